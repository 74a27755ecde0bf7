# One command each: `make demo` shows it, `make test` proves it.
# What a command needs and the machine lacks (tmux) is installed by .ci/need.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X berth/internal/cli.release=$(VERSION)
# urfave/cli's generator of manual pages is left out: it costs each process 0.3 ms.
TAGS := urfave_cli_no_docs
export CGO_ENABLED ?= 0

bin/berth: FORCE
	go build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $@ .

install: bin/berth ## put berth into PREFIX/bin (default /usr/local)
	install -d $(or $(PREFIX),/usr/local)/bin
	install -m 755 bin/berth $(or $(PREFIX),/usr/local)/bin/berth

demo: bin/berth ## a scripted tour with the built-in agent, in a scratch home
	@.ci/need tmux
	@testdata/tour bin/berth

test: ## everything, with the race detector; says what is slow
	@.ci/need tmux unshare less vim htop
	@.ci/test

soak: ## the long rounds of the tests in full
	@.ci/need tmux unshare less vim htop
	BERTH_SOAK=1 CGO_ENABLED=1 go test -race -count=1 -timeout 150m ./internal/e2e ./tmux ./clients

fuzz: ## each fuzzer for FUZZTIME (default 20s)
	@.ci/fuzz $(or $(FUZZTIME),20s)

bench: bin/berth ## the table of docs/bench.md; BENCH=-full for the long rows
	@.ci/need tmux dtach
	go run ./bench $(BENCH)

lint: ## gofmt, vet, staticcheck, darwin; govulncheck where its data can be had
	@.ci/lint

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

FORCE:
.PHONY: demo test soak fuzz bench lint install help FORCE
