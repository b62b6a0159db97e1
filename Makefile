# The commands of this project; each installs what it needs first. The work is done by the scripts in tools/dev.
.DEFAULT_GOAL := help
.PHONY: help demo test test-long bench mutants gen format check tidy build install

help:
	@echo 'make demo       a reinforcement-learning loop streaming through tq, about a minute, with live progress'
	@echo 'make test       all tests but the long ones; closes with "N passed, N failed"'
	@echo 'make test-long  threads under ASan and TSan, every fuzz target for 20 s, long tests'
	@echo 'make bench      our figures beside their floors'
	@echo 'make mutants    breaks one promise at a time and shows the test that notices'
	@echo 'make check      style, include rule, lengths, forbidden calls, headers alone, generated code'
	@echo 'make gen        writes gen/ again from idl/'
	@echo 'make format     formats our C code'
	@echo 'make tidy       clang-tidy over our C code'
	@echo 'make build      the dev preset, in build/dev'
	@echo 'make install    PREFIX=/usr/local DESTDIR='

demo:
	@tools/dev/demo.sh

test:
	@tools/dev/test.sh

test-long:
	@tools/dev/test_long.sh

bench:
	@tools/dev/bench.sh

mutants:
	@tools/dev/mutants.sh

check:
	@tools/dev/check.sh

gen:
	@tools/dev/setup.sh build
	@tools/gen.sh

format:
	@tools/dev/setup.sh style
	@tools/dev/our_sources.sh | xargs clang-format -i

tidy:
	@tools/dev/setup.sh build test style
	@tools/dev/tidy.sh

build:
	@tools/dev/setup.sh build test
	@tools/dev/build.sh dev

PREFIX ?= /usr/local
install:
	@tools/dev/setup.sh build
	@tools/dev/build.sh release installed
	@cmake --install build/release --prefix '$(PREFIX)'
