package specialists_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/fabriccore/assay/specialists/contract"
	"github.com/fabriccore/assay/specialists/controlplane/decisionengine"
	"github.com/fabriccore/assay/specialists/controlplane/receipts"
)

// An authorized role sees the nine fields of a request's advanced trace, any
// other role none.
func TestF056_AdvancedTraceByRole(t *testing.T) {
	p := parts(&fakeModel{tokens: 10})
	p.Specialists = specialistOf(func(ctx context.Context, j contract.Job) (contract.CoreAgentResult, error) {
		r, err := oneCall(ctx, j)
		r.UnresolvedConflicts = []string{"two stages disagree"}
		return r, err
	})
	resp, rec := ask(t, door(t, p), request())
	may := decisionengine.New(decisionengine.Default())
	for role, sees := range map[string]bool{
		"operator": true, "admin": true, "auditor": true, "service": false, "viewer": false, "user": false, "root": false, "": false,
	} {
		raw, err := json.Marshal(receipts.View(may, role, resp, rec))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if !sees {
			if string(raw) != "null" {
				t.Errorf("%q sees %s", role, raw)
			}
			continue
		}
		delete(got, "latency_ms") // may be 0 on a coarse clock
		for k, v := range got {
			switch v := v.(type) {
			case []any:
				if len(v) == 0 {
					t.Errorf("%s is empty", k)
				}
			case nil:
				t.Errorf("%s is empty", k)
			}
		}
		if len(got) != 8 || got["trace_id"] != resp.TraceID || got["no_direct_writes"] != true || got["tokens"] != 11.0 {
			t.Errorf("%q sees %s", role, raw)
		}
	}
	if receipts.View(nil, "admin", resp, rec) != nil {
		t.Error("without a decision engine someone sees the trace")
	}
	rec.Safety.Writes = 1
	if receipts.View(may, "admin", resp, rec).NoDirectWrites {
		t.Error("the attestation is not that of the write counter")
	}
}
