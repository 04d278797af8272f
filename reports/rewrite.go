package reports

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/fabriccore/assay/scorers/stats"
	"github.com/fabriccore/assay/specialists/contract"
)

// rewriter makes a deep copy of a value and changes leaves on the way. It is
// how tidy and harmless reach every string and number of a document, those of
// types that other packages own included.
type rewriter struct {
	str    func(string) string // nil = as it is
	text   func(string) string // for evidence text, which keeps its lines
	float  func(float64) float64
	figure func(stats.Figure) stats.Figure
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	figureType   = reflect.TypeFor[stats.Figure]()
	evidenceType = reflect.TypeFor[contract.EvidenceItem]()
)

func (w rewriter) document(d Document) Document {
	return w.value(reflect.ValueOf(d)).Interface().(Document)
}

func (w rewriter) value(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(apply(w.str, v.String()))
	case reflect.Float64, reflect.Float32:
		out.SetFloat(apply(w.float, v.Float()))
	case reflect.Struct:
		if v.Type() == timeType {
			return v
		}
		if v.Type() == figureType && w.figure != nil {
			v = reflect.ValueOf(w.figure(v.Interface().(stats.Figure)))
		}
		for i := range v.NumField() {
			if !out.Field(i).CanSet() {
				continue
			}
			out.Field(i).Set(w.value(v.Field(i)))
		}
		if v.Type() == evidenceType && w.text != nil {
			e := v.Interface().(contract.EvidenceItem)
			out.FieldByName("Text").SetString(w.text(e.Text))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(w.value(v.Elem()))
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(w.value(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(w.value(it.Key()), w.value(it.Value()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(w.value(v.Elem()))
		}
	default:
		out.Set(v)
	}
	return out
}

func apply[T any](f func(T) T, v T) T {
	if f == nil {
		return v
	}
	return f(v)
}

// tidy returns a document whose bytes are the same however it was made: no nil
// list or map, floats rounded, times in UTC to the millisecond, and no figure
// that is not a finite number.
func tidy(d Document) Document {
	d = rewriter{float: round, figure: finite}.document(d)
	d.GeneratedAt = stamp(d.GeneratedAt)
	d.Run.Started, d.Run.Finished = stamp(d.Run.Started), stamp(d.Run.Finished)
	for i := range d.Looks {
		d.Looks[i].At = stamp(d.Looks[i].At)
	}
	for i := range d.Notes {
		d.Notes[i].At = stamp(d.Notes[i].At)
	}
	return d
}

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// unbounded stands for an infinite end of an interval, which JSON can't hold.
const unbounded = 1e300

// round keeps 12 significant digits. A float that is no number becomes 0: a
// bare one can't say why it is missing, and a figure was mended by finite.
func round(f float64) float64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= unbounded:
		return unbounded
	case f <= -unbounded:
		return -unbounded
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 11, 64), 64)
	if err != nil || r == 0 {
		return 0
	}
	return r
}

// finite turns a figure without a finite point or interval into a missing one;
// an end at infinity is an open end.
func finite(f stats.Figure) stats.Figure {
	if f.Missing != "" {
		return stats.Figure{N: f.N, Clusters: f.Clusters, Method: f.Method, Unit: f.Unit, Warnings: f.Warnings, Missing: f.Missing}
	}
	if math.IsNaN(f.Point) || math.IsInf(f.Point, 0) || math.IsNaN(f.Lo) || math.IsNaN(f.Hi) || math.IsNaN(f.Level) {
		return stats.Figure{N: f.N, Clusters: f.Clusters, Method: f.Method, Unit: f.Unit, Warnings: f.Warnings,
			Missing: "the computation gave no finite number"}
	}
	return f
}
