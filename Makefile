# All developer tasks. `make help` lists the targets.

DEVSERVICES   := ./bin/devservices
GOTESTSUM     := ./bin/gotestsum
GOLANGCI_LINT := 2.15.0

CYCLONEDX     := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

# The modules: the library es, the system that is built on it, and two that only developers run.
MODULES := ./es . ./tools/dev
MODULES += ./tools/bench # extra:whole

# Without paths in the compiled code, another copy of the tree finds it in the build cache.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)

# To test a part: make test PACKAGES=./usecase/... TEST_FLAGS='-run Decide'. ./... means all but the tools and clients.
PACKAGES   ?= ./...
TEST_FLAGS ?= -race -count=1 -timeout=25m

.DEFAULT_GOAL := help

# The demo is compiled in two thirds of the time without the optimizer. A build for use has it: go build ./cmd/standalone.
QUICKLY := "-gcflags=all=-N -l" -gcflags=github.com/ncruces/go-sqlite3-wasm/...=-l

run: ## builds and runs everything in one process on SQLite in ./data; needs only Go
	@[ -e ./bin/standalone ] || echo "make run: building for the first time, which takes a minute"
	@go build $(QUICKLY) -ldflags="-s -w" -o ./bin/standalone ./cmd/standalone && exec ./bin/standalone

# extra:lab {
run: export LAB ?= on
run: export GOFLAGS += -tags=lab
# extra:lab }

# Tests need no symbols, and make check vets them.
test test-short: export GOFLAGS += -ldflags=-s -vet=off

# The slower of Java's compilers does not pay off in tests: those on DynamoDB Local take a sixth less processor time.
test: export JAVA_TOOL_OPTIONS ?= -XX:TieredStopAtLevel=1

# Collecting garbage less often spares linkers, programs and tests a twentieth to a tenth of the time.
test: export GOGC ?= 400

test: $(DEVSERVICES) $(GOTESTSUM) ## the tests, without those of other targets; with the race detector on the library and the programs, on DynamoDB Local and MySQL or MariaDB, which it finds or installs
	@$(DEVSERVICES) exec -- $(GOTESTSUM) --format-hide-empty-pkg --raw-command -- ./tools/dev/gotest.sh $(TEST_FLAGS) $(PACKAGES)

# extra:page {
CLIENTS := $(wildcard ./tests/clients ./tools/dev/browser)

test-clients: $(DEVSERVICES) ## the tests that need Node with npm: the page in Chromium, which it installs where it may, and others' clients of the APIs
	@$(DEVSERVICES) browser
	@$(MAKE) --no-print-directory test PACKAGES="$(CLIENTS)"
# extra:page }

# Backwards: the slowest come first.
TOOLS := $(patsubst %,./%...,$(filter-out %/browser/,$(shell ls -dr tools/dev/*/)))
TOOLS += ./tools/bench # extra:whole

test-tools: ## the tests of the tools, most of which run the tool on a copy of the project
	@$(MAKE) --no-print-directory test PACKAGES="$(TOOLS)"

test-short: ## the tests that need no service, no Node and no waiting, without the race detector; under a minute
	@for module in $(MODULES); do go test -C $$module -short ./... || failed=1; done; exit $${failed:-0}

OF := es/estest/simulation
OF += extras/publishing # extra:publishing

simulate: ## the library under faults, in schedules that a seed selects: make simulate [SEED=7] [SCHEDULES=10000] [OF=es/estest/simulation]
	@SCHEDULES="$(SCHEDULES)" SEED="$(SEED)" SCHEDULE='$(SCHEDULE)' ./tools/dev/simulate.sh $(OF)

# extra:whole {
soak: $(DEVSERVICES) ## the programs under kills and pauses, and whether the answers are linearizable: make soak [FOR=1h]
	@SOAK="$(or $(FOR),1h)" $(DEVSERVICES) exec -- go test -count=1 -timeout=0 -v -run=TestHistoriesAreLinearizable ./tests/e2e
# extra:whole }

dev-up: $(DEVSERVICES) ## starts DynamoDB Local, MySQL or MariaDB and the programs that are not running, in the background; logs in ./data/dev
	@$(DEVSERVICES) up

dev-down: $(DEVSERVICES) ## stops what dev-up started, and keeps the data
	@$(DEVSERVICES) down

# extra:whole {
up: ## the services and the programs by Docker Compose
	@./tools/dev/compose-check/system.sh up

down: ## stops what up started, and keeps the data
	@./tools/dev/compose-check/system.sh down

compose-check: ## runs the compose file and the end-to-end tests against it, with stand-ins for images that can't be pulled
	@./tools/dev/compose-check/run.sh
# extra:whole }

migrate: $(DEVSERVICES) ## creates or updates DynamoDB tables and SQL schema, of the databases in the environment or else of dev-up
	@$(DEVSERVICES) migrate

lambda: ## cmd/lambda-updater for AWS Lambda, as ./bin/lambda-updater.zip: arm64, the same bytes from the same commit
	@GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go build -buildvcs=false -tags=lambda.norpc -ldflags="-s -w" -o ./bin/lambda/bootstrap ./cmd/lambda-updater
	@go run github.com/aws/aws-lambda-go/cmd/build-lambda-zip -o ./bin/lambda-updater.zip ./bin/lambda/bootstrap

generate: ## writes the generated code
	go generate ./...

new-aggregate: ## writes a small working aggregate with fields of several types, to change: make new-aggregate NAME=order. PROCESS=yes adds a process manager
	@go -C tools/dev run ./scaffold -root ../.. -process "$(or $(PROCESS),no)" "$(NAME)"

# extra:whole {
core: ## copies the project without extras, except those named: make core DIR=../core EXTRAS="access limits", or all but WITHOUT="tasks". An extra that another kept one needs is copied, too
	@go -C tools/dev run ./core -root ../.. -dir "$(DIR)" $(or $(EXTRAS),$(if $(WITHOUT),$(filter-out $(WITHOUT),$(notdir $(wildcard extras/*)))))

pictures: ## makes the pictures and the film of README.md from the running program; needs Chromium and Debian's package webp
	@PICTURES=1 go -C tools/dev test -count=1 -v -run=TestPictures ./browser

new-app: ## writes a new repository without chat: make new-app DIR=../shop MODULE=example.org/shop AGGREGATE=order EXTRAS="access operate page"
	@go -C tools/dev run ./core -root ../.. -dir "$(DIR)" -new -module "$(MODULE)" -aggregate "$(AGGREGATE)" $(EXTRAS)

EACH    := none $(notdir $(wildcard extras/*))
FOR_NEW := $(filter-out erasure history lab tasks,$(notdir $(wildcard extras/*))) # the others are about chat

aws-check: ## type-checks and tests the stacks of deploy/aws, and synthesises them; needs Node 20 with npm, and no account
	@cd deploy/aws && npm ci --no-progress && npm run --silent check && npm run --silent synth

FORMER ?= $(shell git describe --tags --abbrev=0 2>/dev/null)

upgrade-check: $(DEVSERVICES) ## two releases side by side under load, forward and back: the last tag or FORMER=commit (else the tree), and the tree with the lessons
	@UPGRADE_CHECK=1 FORMER="$(FORMER)" $(DEVSERVICES) exec -- go -C tools/dev test -count=1 -timeout=30m -v -run=TestTheNextReleaseNeedsNoPause ./tutorial

release-check: $(DEVSERVICES) ## what is too slow for every change: lessons and omissions, upgrade-check, mutations, the race detector everywhere, a long past in the browser, fuzzing, the same bytes twice, aws-check, each extra alone, new applications
	@$(DEVSERVICES) browser
	@RELEASE_CHECK=1 $(MAKE) --no-print-directory test PACKAGES='./tools/dev/tutorial ./tools/dev/core' TEST_FLAGS='-count=1 -timeout=90m'
	@$(MAKE) --no-print-directory upgrade-check
	@for of in $(OF); do RELEASE_CHECK=1 go test -C $$of -count=1 -timeout=60m -run=TestMutationsAreFound . || exit 1; done
	@RELEASE_CHECK=1 $(MAKE) --no-print-directory test PACKAGES=./cmd/lambda-updater TEST_FLAGS='-count=1 -timeout=90m'
	@BROWSER_EVENTS=100000 $(MAKE) --no-print-directory test-clients CLIENTS=./tools/dev/browser TEST_FLAGS='-count=1 -timeout=90m -run=TestALongPast'
	@WATCH=. $(MAKE) --no-print-directory test PACKAGES='./domain/... ./usecase/... ./interfaceadaptor/... ./infrastructure/... ./extras/...'
	@$(MAKE) --no-print-directory fuzz FUZZ_TIME=10s
	@go -C tools/dev run ./dependencies -root ../.. -vulndb latest
	@./tools/dev/reproducible.sh
	@$(MAKE) --no-print-directory aws-check
	@for extra in $(EACH); do \
	  echo "release-check: extras: $$extra"; folder="$$(mktemp -d)"; \
	  $(MAKE) --no-print-directory core DIR="$$folder" EXTRAS="$${extra#none}" && \
	  $(MAKE) --no-print-directory -C "$$folder" check test-short || failed="$$failed $$extra"; \
	  rm -rf "$$folder"; \
	done; \
	for extras in "" "$(FOR_NEW)"; do \
	  echo "release-check: a new application with: $$extras"; folder="$$(mktemp -d)"; \
	  $(MAKE) --no-print-directory new-app DIR="$$folder" MODULE=example.org/shop AGGREGATE=order EXTRAS="$$extras" && \
	  $(MAKE) --no-print-directory -C "$$folder" check test test-tools || failed="$$failed new:$$extras"; \
	  rm -rf "$$folder"; \
	done; [ -z "$$failed" ] || { echo "release-check: it failed with:$$failed" >&2; exit 1; }
# extra:whole }

sbom: ## a list of what each program is made of, in CycloneDX's form, beside the programs in ./bin/release
	@rm -rf ./bin/release && mkdir -p ./bin/release && go build -ldflags="-s -w" -o ./bin/release/ ./cmd/...
	@for program in ./bin/release/*; do case "$$program" in *.json) ;; *) go run $(CYCLONEDX) bin -json -version "$$(git describe --always --dirty)" -output "$$program.cdx.json" "$$program" || exit 1 ;; esac; done

CHECKS := check-format check-lint check-modules check-dependencies check-generated check-layers
CHECKS += check-observe # extra:whole

check: ## formatting, vet, lint, dependencies, generated code up to date, layer rules; shows the faults of all
	@$(MAKE) --no-print-directory --keep-going $(CHECKS)

# The files that are there: not those whose deletion is not committed yet.
FILES := git ls-files --cached --others --exclude-standard
GO_FILES := $(FILES) '*.go' | xargs ls -d 2>/dev/null

check-format:
	@echo "check: formatting"
	@unformatted="$$($(GO_FILES) | xargs gofmt -l)"; \
	if [ -n "$$unformatted" ]; then echo "gofmt -w is needed on:" $$unformatted >&2; exit 1; fi

check-lint: # by the golangci-lint that is installed, if it has the version; else it is built once, which takes minutes
	@lint=golangci-lint; [ "$$($$lint version --short 2>/dev/null)" = $(GOLANGCI_LINT) ] || \
	  lint="go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_LINT)"; \
	echo "check: vet and lint, with $$lint"; \
	for module in $(MODULES); do (cd $$module && $$lint run --allow-parallel-runners ./...) || failed=1; done; exit $${failed:-0}

check-modules:
	@echo "check: go.mod and go.sum"
	@for module in $(MODULES); do (cd $$module && go mod tidy -diff && go mod verify) || failed=1; done; exit $${failed:-0}

check-dependencies:
	@echo "check: vulnerabilities and licences of what is built in"
	@go -C tools/dev run ./dependencies -root ../..

GENERATED := $(FILES) "*.go" "extras/*.js" "extras/*.css" "extras/*.ts" | xargs ls -d 2>/dev/null

# Compares files before and after generating, so uncommitted changes do not matter.
check-generated:
	@echo "check: generated code"
	@before="$$($(GENERATED) | git hash-object --stdin-paths)" && go generate ./... && \
	after="$$($(GENERATED) | git hash-object --stdin-paths)" && \
	if [ "$$before" != "$$after" ]; then \
	  echo "the generated code was out of date and has been regenerated: see git diff, and commit it" >&2; exit 1; fi

check-layers:
	@echo "check: layer rules"
	@go test -count=1 ./tests/architecture

# extra:whole {
# Uses Prometheus' promtool if it is available.
check-observe:
	@echo "check: alerts"
	@if promtool="$$(./tools/dev/promtool.sh)"; then \
	  cd deploy/observe && "$$promtool" check config prometheus.yml && "$$promtool" test rules alerts_test.yml; fi

fuzz: ## runs every fuzz target for FUZZ_TIME; default: a minute
	FUZZ_TIME=$${FUZZ_TIME:-1m} go test -count=1 -timeout=0 -v ./tests/fuzz

bench: $(DEVSERVICES) ## runs the benchmark, about 10 minutes, 20 with BASE=commit, a former build to compare with: a table, also as JSON
	@go build -C tools/bench -o ../../bin/ . && ./bin/bench -base "$(BASE)"

compare: $(DEVSERVICES) ## measures and kills this project and another in turns, 15 minutes, for docs/comparison.md: make compare PEER=folder
	@$(if $(PEER),,$(error set PEER to the folder of the other program))go build -C tools/bench -o ../../bin/ . && ./bin/bench -peer "$(PEER)" -duration 3s -warm-up 1s -output data/compare.json
# extra:whole }

help: ## prints this table
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Always runs go build, which knows what has changed.
$(DEVSERVICES): FORCE
	@go build -C tools/dev -o ../../bin/ ./devservices

$(GOTESTSUM): FORCE
	@go build -C tools/dev -o ../../bin/ gotest.tools/gotestsum

FORCE:

.PHONY: FORCE run test test-short test-tools simulate sbom dev-up dev-down migrate lambda generate new-aggregate help check check-format check-lint check-modules check-dependencies check-generated check-layers
.PHONY: test-clients # extra:page
.PHONY: release-check soak up down compose-check core pictures new-app fuzz aws-check bench compare check-observe upgrade-check # extra:whole
