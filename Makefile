# Everything a developer or CI does, by name. `make help` lists it.

# One set of flags for build, run and tests, so that the cloud SDKs are
# compiled once. Without cgo the binaries are static and no C compiler is needed.
export CGO_ENABLED ?= 0
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
ARCH    := $(shell $(GO) env GOARCH)
PAYLOAD := cmd/antipode/payload
CARRIED := $(PAYLOAD)/antipode-probe-linux-amd64.gz $(PAYLOAD)/antipode-probe-linux-arm64.gz \
           $(PAYLOAD)/antipode-machine-linux-amd64.gz $(PAYLOAD)/antipode-machine-linux-arm64.gz
SOURCES := $(shell find . -name '*.go' -not -name '*_test.go' -not -path './runs/*') go.mod go.sum regions.yaml
# Where `make run` sweeps: three AWS and three GCP regions on four continents.
RUN_REGIONS := aws:us-east-1,aws:eu-central-1,aws:ap-northeast-1,gcp:us-west1,gcp:southamerica-east1,gcp:asia-southeast1

.PHONY: help build run test check format vet staticcheck tidy race fuzz golden page chaos bench-probe bench-schedule bench-sweep bench-equal bench-report bench-page accuracy cross clean

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: bin/antipode bin/antipode-probe ## build bin/antipode and bin/antipode-probe

run: build ## sweep six regions on the built-in lab: 30 directed pairs, no cloud account
	bin/antipode sweep --lab --regions $(RUN_REGIONS)

# Packages whose tests run real machines and real traffic have the cores to
# themselves, one after the other, and the end-to-end tests come last: they hold
# measurements against the lab's truth, which other tests would disturb. Those of
# them that mostly wait do so ten at a time. The others have memory to spare: the
# matrix of faults takes a tenth less time with a lazier garbage collector.
TIMED = ./bench/accuracy ./lab ./lab/hypervisor ./lab/machine ./lab/router ./probe ./remote
ROOMS = $(filter-out $(shell $(GO) list ./e2e $(TIMED)),$(shell $(GO) list ./...))
# What runs them: CI puts .ci/again before it.
MEASURE ?= $(GO) test
test: build ## run every test
	GOGC=$${GOGC:-400} $(GO) test -timeout 15m $(ROOMS)
	cd page/bundle && $(GO) test -count 1 ./... # it reads files that go test does not know of
	$(MEASURE) -timeout 15m -p 1 $(TIMED)
	$(MEASURE) -timeout 30m -parallel 10 ./e2e
	@if command -v "$${CC:-cc}" >/dev/null; then cd e2e/duckdb && CGO_ENABLED=1 $(GO) test ./...; \
	elif [ -n "$$CI" ]; then echo "e2e/duckdb needs a C compiler" >&2; exit 1; \
	else echo "skipped e2e/duckdb: it needs a C compiler, and there is none"; fi

check: format vet staticcheck tidy race ## format, vet, staticcheck, tidy and the race detector

format: ## list files that gofmt would change; fails when there are any
	@bad=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$bad" || { echo "gofmt would change:"; echo "$$bad"; exit 1; }

vet: ## go vet
	$(GO) vet -tags chaos ./...

staticcheck: ## staticcheck, the version go.mod names
	$(GO) tool staticcheck -tags chaos ./...

tidy: ## fails when go.mod or go.sum are not tidy
	$(GO) mod tidy -diff
	cd e2e/duckdb && $(GO) mod tidy -diff
	cd page/bundle && $(GO) mod tidy -diff

race: build ## the packages' tests again under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 40m $(ROOMS)
	CGO_ENABLED=1 $(MEASURE) -race -timeout 40m -p 1 $(TIMED)

fuzz: ## fuzz every parser for FUZZTIME each (default 10s)
	@for f in $$(grep -rlE '^func Fuzz' --include='*_test.go' .); do \
	  for name in $$(grep -oE '^func Fuzz[A-Za-z0-9]+' $$f | cut -c6-); do \
	    echo "$$name in $$(dirname $$f)"; \
	    $(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $${FUZZTIME:-10s} $$(dirname $$f) || exit 1; \
	  done; done

golden: ## rewrite the golden files; read the diff before you commit it
	$(GO) test ./charts ./results -update

page: ## page/dist anew from page/web/src, and the npm packages that page/bundle/modules.tgz holds
	cd page/bundle && $(GO) run .

# Without a package's name go test shows how far it is. The check goes first: it
# takes the records and the tags out of the code, and the kill test must fail.
chaos: build ## kill CHAOS_RUNS sweeps (default 200) at random moments, look for what is left or lost; CHAOS_SEED replays
	cd e2e && CHAOS_RUNS=$${CHAOS_RUNS:-200} CHAOS_SEED=$${CHAOS_SEED:-$$(date +%s)} \
	  $(GO) test -tags chaos -count 1 -timeout 0 -run '^TestChaos'

bench-probe: build ## the probe against iperf3, ping, irtt and sockperf: medians and ratios (install the peers first)
	$(GO) run ./bench/probe

bench-schedule: ## the schedule on a virtual clock, 10 to 200 regions: makespan over the bound, beside a simple queue
	$(GO) run ./bench/schedule

bench-report: bin/antipode ## a report of 1,000,000 rows: statistics and charts in at most 10 s and 400 MB
	$(GO) run ./bench/report

bench-page: ## report.html of 5,852 pairs in headless Chromium: opening, sorting, filtering
	$(GO) test ./page -run '^$$' -bench Page -benchtime 1x

bench-sweep: build ## 46 regions on the lab, 2,070 pairs: time, makespan over the bound, memory of the controller; some minutes (SWEEP_FLAGS)
	$(GO) run ./bench/sweep $(SWEEP_FLAGS)

bench-equal: build ## ten comparisons of sweeps of the same world on the lab: none may find a regression of 10 %; six minutes (EQUAL_FLAGS)
	$(GO) run ./bench/equal $(EQUAL_FLAGS)

accuracy: bin/antipode-probe bin/antipode-machine ## the probe against the lab's truth on 134 paths and 12 token buckets: half an hour; goes on where it was interrupted
	$(GO) run ./bench/accuracy $(ACCURACY_FLAGS)

# Optimisation is off for one cross-build of the SDKs: it halves the time, and
# nobody runs the result.
cross: $(CARRIED) ## build the controller for darwin and windows, the probe for linux amd64 and arm64
	GOOS=darwin GOARCH=arm64 $(GO) build -gcflags=all='-N -l' -o /dev/null ./cmd/antipode
	GOOS=windows GOARCH=amd64 $(GO) build -gcflags=all='-N -l' -o /dev/null ./cmd/antipode

clean: ## remove what was built; runs/ stays
	rm -rf bin $(PAYLOAD)/*.gz

bin/antipode: $(SOURCES) $(CARRIED)
	$(GO) build -ldflags '$(LDFLAGS)' -o $@ ./cmd/antipode

bin/antipode-probe: $(SOURCES)
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/antipode-probe

bin/antipode-machine: $(SOURCES)
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/antipode-machine

# What the controller carries: static, without paths of the build machine, and
# byte-identical when built again.
$(PAYLOAD)/%.gz: $(SOURCES)
	@name=$*; arch=$${name##*-}; cmd=$${name%-linux-*}; \
	echo "building $$cmd for linux/$$arch"; \
	CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(PAYLOAD)/$$name.tmp ./cmd/$$cmd && \
	gzip -9nc $(PAYLOAD)/$$name.tmp > $@.tmp && mv $@.tmp $@; rc=$$?; rm -f $(PAYLOAD)/$$name.tmp; exit $$rc
