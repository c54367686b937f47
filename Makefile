# run test build bench dev lint gen install chaos soak faults bench-peers conformance: see README.md.
.DEFAULT_GOAL := build
.PHONY: run test build bench bench-peers conformance chaos soak faults fuzz dev lint gen install uninstall clean tools FORCE
MAKEFLAGS += --no-print-directory

VERSION ?= 0.1.0$(shell git rev-parse --short=10 HEAD 2>/dev/null | sed 's/^/+/')
PREFIX ?= $(HOME)/.local
TAGS := desktop,production,webkit2_41
LDFLAGS := -s -w -X main.version=$(VERSION)
# A copy that belongs to somebody else must build too, so Go does not ask git.
GOBUILD := go build -buildvcs=false -trimpath
ifeq ($(shell uname -s),Darwin)
export CGO_LDFLAGS += -framework UniformTypeIdentifiers
endif
PAGE := $(shell find frontend -type f -not -path 'frontend/node_modules/*' -not -path 'frontend/dist/*' 2>/dev/null)

run: # set up, build and start the app
	@build/scripts/run.sh

test: # everything; a part alone: build/scripts/test.sh help
	@build/scripts/test.sh

build: build/bin/gofer build/bin/gofer-cli # the app and the command line

bench: build # figures of speed; they print, they never fail
	go run ./backend/cmd/bench
	@[ "$$(uname -s)" != Linux ] || go test -count=1 -v -tags windowtest -run Figures ./backend/windowtest | grep -E 'figures_test|^(ok|FAIL)'

bench-peers: build/bin/gofer-cli # the browser tools beside the best others, in one run; ROUNDS=10
	@build/scripts/peers.sh

conformance: build/bin/gofer-cli # the official MCP conformance tool against gofer mcp --http
	@build/scripts/conformance.sh

soak: # the tests of the browser tools, twenty whole passes in one go; PASSES=20 COUNT=1
	@build/scripts/soak.sh

faults: # every call of every browser tool under every fault, ended within a second of its deadline; GOFER_SLACK=3s on a busy machine
	GOFER_LONG=1 go test -race -count=1 -v -timeout 60m -run 'Fault|Hangs|EndOfItsRenderer' ./backend/tools/browse

fuzz: # ten thousand random actions, each told as it was; ACTIONS=10000 or SEED=… to replay one
	GOFER_FUZZ=$(or $(ACTIONS),10000) GOFER_FUZZ_SEED=$(SEED) go test -count=1 -v -timeout 120m -run RandomActions ./backend/browser

chaos: # the long forms of the acceptance tests: kills, stops, errands; minutes
	GOFER_CHAOS=1 go test -count=1 -v -timeout 60m ./backend/acceptance

lint: tools frontend/node_modules/.installed
	@build/scripts/test.sh vet lint page

gen: frontend/node_modules/.installed # everything that is generated and kept in git
	go generate ./backend/...
	go run -tags bindings .

# The page reloads by itself; after a change in Go, end it and start it again.
dev: frontend/node_modules/.installed
	@cd frontend && npx vite --port 5173 --strictPort --host 127.0.0.1 & vite=$$!; trap 'kill $$vite' EXIT; \
	frontenddevserverurl=http://127.0.0.1:5173 devserver=127.0.0.1:34115 assetdir= \
	go run -buildvcs=false -tags dev,desktop,webkit2_41 .

install: build
	install -d $(addprefix '$(DESTDIR)$(PREFIX)'/,bin share/icons/hicolor/256x256/apps share/applications)
	install -m755 build/bin/gofer build/bin/gofer-cli '$(DESTDIR)$(PREFIX)/bin'
	install -m644 build/linux/gofer.png '$(DESTDIR)$(PREFIX)/share/icons/hicolor/256x256/apps'
	sed 's|^Exec=gofer|Exec=$(PREFIX)/bin/gofer|' build/linux/gofer.desktop > '$(DESTDIR)$(PREFIX)/share/applications/gofer.desktop'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/gofer' '$(DESTDIR)$(PREFIX)/bin/gofer-cli' \
	  '$(DESTDIR)$(PREFIX)/share/icons/hicolor/256x256/apps/gofer.png' '$(DESTDIR)$(PREFIX)/share/applications/gofer.desktop'

clean:
	rm -rf build/bin build/cache frontend/node_modules $(WIDGETS)/node_modules $(WIDGETS)/dist
	find frontend/dist -mindepth 1 -not -name .gitkeep -delete

# Go itself knows whether anything has to be built again.
build/bin/gofer: frontend/dist/index.html FORCE
	$(GOBUILD) -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $@ .

build/bin/gofer-cli: FORCE
	CGO_ENABLED=0 $(GOBUILD) -ldflags '$(LDFLAGS)' -o $@ ./backend/cmd/headless

frontend/dist/index.html: frontend/node_modules/.installed $(PAGE)
	cd frontend && npx --no-install vite build --logLevel warn
	@touch $@

frontend/node_modules/.installed: frontend/package.json frontend/package-lock.json
	cd frontend && npm ci --no-audit --no-fund
	@touch $@

WIDGETS := backend/browser/widgettest/testdata
$(WIDGETS)/node_modules/.installed: $(WIDGETS)/package.json $(WIDGETS)/package-lock.json $(WIDGETS)/bundle.mjs $(wildcard $(WIDGETS)/src/*)
	cd $(WIDGETS) && npm ci --ignore-scripts --no-audit --no-fund && node bundle.mjs
	@touch $@

tools: build/cache/golangci-lint

build/cache/golangci-lint: build/tools/go.mod build/tools/go.sum
	@echo 'Building golangci-lint (once; a minute or two)'
	@mkdir -p build/cache
	cd build/tools && go build -buildvcs=false -o ../cache/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@
