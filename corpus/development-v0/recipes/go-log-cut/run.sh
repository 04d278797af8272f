#!/usr/bin/env bash
set -u
. "$LIB"

export GOCACHE="${GOCACHE:-/tmp/recipe-go-cache}" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOSUMDB=off
STAGE_TIMEOUT=200
printf 'module example.com/grid\n\ngo 1.22\n' > go.mod
for p in alarm bus cell drive event feeder gauge hub; do
  mkdir -p internal/$p
  printf 'package %s\n\nfunc Sum(a, b int) int { return a + b }\n' $p > internal/$p/$p.go
  cat > internal/$p/${p}_test.go <<X
package $p

import (
	"fmt"
	"testing"
)

func TestSum(t *testing.T) {
	for i := 0; i < 11; i++ {
		t.Run(fmt.Sprintf("load_%03d", i*25), func(t *testing.T) {
			if i%4 == 1 {
				t.Logf("sample %d arrived late by %d ms, kept", i, 7*i)
			}
			if Sum(i, 25) != i+25 {
				t.Fatalf("sum(%d, 25) = %d", i, Sum(i, 25))
			}
		})
	}
}
X
done
go test -v -count=1 ./... > last.log 2>&1
printf 'package hub\n\nfunc Sum(a, b int) int { return a - b }\n' > internal/hub/hub.go
cat > ci.sh <<'X'
go test -v -count=1 ./... > full.log 2>&1
rc=$?
head -c 6450 full.log
exit $rc
X
stage test bash ci.sh
keep 04-config.txt go.mod
head -c 9900 last.log > last.cut && keep 03-history.txt last.cut
exit 0
