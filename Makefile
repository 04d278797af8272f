# assay: `make` lists the targets. Everything here runs without root.

SHELL := /bin/bash
GO ?= go
# Packages built and tested at once; modest, because tests also time things.
P ?= 2
RUNS := $(or $(ASSAY_RUNS),runs)
# More for qualify and smoke, e.g. ARGS="--model llama3.2:3b".
ARGS ?=
FUZZTIME ?= 5s
# Cases that `make smoke` asks; more shows nothing more.
SMOKE ?= 10
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FOLDERS := cmd corpus benchmarks runner scorers specialists reports
# What `make race` checks; `make race RACE=./...` takes everything.
RACE ?= ./benchmarks/... ./runner/... ./specialists/... ./reports/...

# The build says which commit it is, and +dirty where the tree is changed or
# can't be told. GOFLAGS may hold -buildvcs=false, so the toolchain may not.
VERSION := $(shell v=$$(git describe --always --abbrev=12 --match 'v[0-9]*' 2>/dev/null) \
	&& s=$$(git status --porcelain 2>/dev/null) && echo "$$v$${s:++dirty}" || echo unknown+dirty)

# Packages with level-3 tests: they want a real Ollama server and are named
# TestReal….
LEVEL3 = $(sort $(dir $(shell grep -rlE --include='*_test.go' '^func TestReal' $(FOLDERS))))

.PHONY: help build test race lint golden fuzz-short bench qualify smoke integration matrix cli-docs ci clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

build: ## build bin/assay
	$(GO) build -trimpath -ldflags '-X main.stamped=$(VERSION)' -o bin/assay ./cmd/assay

test: ## run every test but those that want a real Ollama server
	@echo "Not part of this (level 3, they want a real Ollama server; 'make integration' runs them):"
	@grep -rhoE --include='*_test.go' '^func TestReal[A-Za-z0-9_]*' $(FOLDERS) | sed 's/^func /  /'
	$(GO) test -p $(P) ./...

race: ## run the concurrent packages' tests with the race detector
	$(GO) test -p $(P) -short -race $(RACE)

lint: build ## check gofmt, go vet, staticcheck, the requirement matrix and docs/cli.md
	@out=$$(gofmt -l $(FOLDERS)); [ -z "$$out" ] || { echo "not gofmt'ed:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	@if $(GO) run $(STATICCHECK) -version >/dev/null 2>&1; \
		then echo "$(GO) run $(STATICCHECK) ./..."; $(GO) run $(STATICCHECK) ./...; \
		else echo "staticcheck is left out: $(STATICCHECK) can't be had here (try: $(GO) run $(STATICCHECK) -version)"; fi
	$(GO) run ./cmd/matrix -check
	@docs/cli.sh bin/assay | diff -u docs/cli.md - || { echo "docs/cli.md is stale: run 'make cli-docs' and commit it"; exit 1; }

golden: ## write the golden files anew; read the difference before you commit it
	$(GO) test $(sort $(addprefix ./,$(dir $(shell grep -rlE --include='*_test.go' 'flag\.Bool\("update"' $(FOLDERS))))) -update

fuzz-short: ## fuzz every target for FUZZTIME (5s)
	@set -e; grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' $(FOLDERS) | sed 's/:func /\t/' | sort | \
	while IFS=$$'\t' read -r file name; do \
		echo "-- $$name in ./$$(dirname "$$file")"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -parallel $(P) "./$$(dirname "$$file")"; \
	done

bench: ## run the benchmarks
	$(GO) test -p 1 -run '^$$' -bench . -benchmem \
		$(sort $(addprefix ./,$(dir $(shell grep -rlE --include='*_test.go' '^func Benchmark' $(FOLDERS)))))

# A qualification did its work when it wrote a report and reached a verdict
# that is a result: 0 qualified, 1 not qualified, 3 inconclusive.
define judged
@mkdir -p $(RUNS); stamp=$$(mktemp); rc=0; \
bin/assay qualify --runs $(RUNS) $(1) $(ARGS) || rc=$$?; \
report=$$(find $(RUNS) -mindepth 2 -maxdepth 2 -name report.html -newer $$stamp | sort | tail -n 1); rm -f $$stamp; \
case $$rc in 0) v=qualified;; 1) v="not qualified";; 3) v=inconclusive;; *) echo "make: assay ended with code $$rc" >&2; exit $$rc;; esac; \
[ -n "$$report" ] || { echo "make: assay ended with code $$rc but wrote no report below $(RUNS)" >&2; exit 1; }; \
echo; echo "report: $$report"; echo "verdict: $$v (code $$rc)"
endef

qualify: build ## qualify the default route; a success once a report with a verdict is written
	$(call judged,)

smoke: build ## run the whole path on SMOKE (10) cases of the development corpus; it can't qualify
	$(call judged,smoke --limit $(SMOKE))

integration: ## run the level-3 tests: a real server (built on first use) and real weights
	ASSAY_TEST_OLLAMA=1 ASSAY_TEST_WEIGHTS=1 $(GO) test -p 1 -count 1 -timeout 20m -v -run '^TestReal' $(addprefix ./,$(LEVEL3))

matrix: ## write docs/requirements.md: which test checks which requirement
	$(GO) run ./cmd/matrix

cli-docs: build ## write docs/cli.md from the binary's own help
	docs/cli.sh bin/assay > docs/cli.md.new && mv docs/cli.md.new docs/cli.md

ci: ## everything that a change has to pass
	@for step in lint build race fuzz-short smoke integration test; do \
		printf '\n==== %s\n' $$step; $(MAKE) --no-print-directory $$step || exit $$?; done

clean: ## remove bin/ (runs and the cache stay)
	rm -rf bin
