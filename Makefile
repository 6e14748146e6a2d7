# Everything runs through npm's scripts, which put Node 24 from node_modules first on the PATH: the machine's own Node only
# has to run npm.

NPM_RUN := npm run --silent
# Installs what the lock file pins and does not write to it. Not `npm ci`: that refuses a lock file in which the optional
# packages of some other platform are missing, as they are when the registry does not carry them.
NPM_INSTALL := npm install --no-save --no-audit --no-fund --loglevel=error
# A copy of the lock file that node_modules was installed from.
INSTALLED_LOCK := node_modules/.installed-lock.json
# The folders of tools/ whose Go modules are fetched while npm installs, for the commands that start servers. DOWNLOAD=1 may do
# without them.
GO_MODULES =
BESIDE_NPM = $(if $(and $(GO_MODULES),$(filter-out 1,$(or $(DOWNLOAD),0))),sh tools/resolver/beside-npm.sh $$PPID $(GO_MODULES) >/dev/null 2>&1 &)
ARGS ?=
DIR ?= test/cases

.DEFAULT_GOAL := help
.PHONY: help install servers browser check unit integration test test-all chaos fuzz long bench conformance mutants demo dev image release clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo dev: GO_MODULES = etcd temporal kubernetes
servers integration test test-all chaos fuzz long bench: GO_MODULES = etcd temporal kubernetes kwok kustomize helm memcached-exporter

install: ## Install the npm packages, if the lock file has changed since the last time
	@cmp -s package-lock.json $(INSTALLED_LOCK) || { \
	  echo 'Installing npm packages'; \
	  $(BESIDE_NPM) \
	  $(NPM_INSTALL) && \
	  cp package-lock.json $(INSTALLED_LOCK); }

servers: install ## Find or build Temporal, etcd, the Kubernetes servers, kwok, kustomize, Helm, memcached and its exporter, Prometheus (with Go, about 12 minutes once)
	@$(NPM_RUN) servers
	@$(NPM_RUN) servers -- memcached prometheus promtool

browser: install ## Find or install the Chromium of the browser test
	@$(NPM_RUN) browser

check: install ## Types, lint with the import direction, format, unused code
	@$(NPM_RUN) check

unit: install ## The unit tests
	@$(NPM_RUN) unit

integration: install servers browser ## The integration tests, on real servers
	@$(NPM_RUN) integration

# What the ten minutes of `make test` begin with, npm's installation included.
test test-all: export HEADROOM_RUN_BEGAN := $(shell date +%s)

# Without a browser the browser test fails and says so, without memcached or Prometheus those that start them; all the others still run.
define INSTALL_SERVERS
@$(NPM_RUN) servers >/dev/null
@$(NPM_RUN) browser >/dev/null || true
@$(NPM_RUN) servers -- memcached >/dev/null || true
@$(NPM_RUN) servers -- prometheus promtool >/dev/null || true
endef

test: install ## In ten minutes: checks, unit tests and the core of the integration tests; the last line is "N passed, N failed"
	$(INSTALL_SERVERS)
	@$(NPM_RUN) test -- core $(ARGS)

test-all: install ## The same with all integration tests, in half an hour
	$(INSTALL_SERVERS)
	@$(NPM_RUN) test -- all $(ARGS)

chaos: install ## A long random run of kills, outages and people (ARGS='--seed 7 --minutes 5 --quotas 8')
	@$(NPM_RUN) servers >/dev/null
	@$(NPM_RUN) chaos -- $(ARGS)

# With arguments, the parsers alone.
fuzz: install ## A hundred thousand inputs of each parser, some ten minutes (ARGS='--seed 7 --runs 1000 --only YAML'), and thousands of objects on real servers
	@$(NPM_RUN) fuzz -- $(ARGS)
	@$(if $(ARGS),true,$(NPM_RUN) servers >/dev/null && $(NPM_RUN) servers -- memcached >/dev/null && $(NPM_RUN) fuzz:servers)

long: install ## In full what make test does a part of: deaths at every write, a hundred episodes, hours side by side, random nights
	@$(NPM_RUN) servers >/dev/null
	@$(NPM_RUN) long
	@$(NPM_RUN) usage:side-by-side -- --operations 2000 --faults

bench: install ## Latency, usage beside Kubernetes' own controller, memory at rest: half an hour on a machine of its own (ARGS='--parts floors,rest')
	@$(NPM_RUN) servers >/dev/null
	@$(NPM_RUN) bench -- $(ARGS)

conformance: install ## Run the conformance cases of DIR (test/cases)
	@$(NPM_RUN) conformance -- $(DIR)

mutants: install ## Mutants of the pure decisions, for hours (ARGS='--mutate domain/quota-resize/sizing/round.ts')
	@nice $(NPM_RUN) mutants -- $(ARGS)

demo: install ## The main job on a real cluster and a real git repository (DOWNLOAD=1 takes official servers instead of building them; ARGS=--exit ends by itself, ARGS=memcached: a cache that scales, ARGS=node-groups: nodes, ARGS=lights-out: a night)
	@$(NPM_RUN) demo -- $(ARGS)

dev: install ## The servers, worker and starter, restarted when the source changes
	@$(NPM_RUN) dev -- $(ARGS)

image: install ## Build the image for amd64 and arm64 into .headroom/image, on Debian and without Docker
	@$(NPM_RUN) image

release: install ## Write what a release is made of into .headroom/release
	@$(NPM_RUN) release

clean: ## Remove what was installed here; the built servers stay in the cache
	rm -rf node_modules
	@echo "The built servers stay in $${XDG_CACHE_HOME:-$$HOME/.cache}/headroom"
