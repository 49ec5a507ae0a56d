# For installing only; script/ has everything else.
PREFIX ?= /usr
DESTDIR ?=
PROGRAMS = target/x86_64-unknown-linux-gnu/release

all:
	cargo build --release --locked

install: all
	install -D -m 755 $(PROGRAMS)/hotset $(DESTDIR)$(PREFIX)/bin/hotset
	install -D -m 755 $(PROGRAMS)/hotset-guest $(DESTDIR)$(PREFIX)/lib/hotset/hotset-guest
	install -d $(DESTDIR)$(PREFIX)/share/hotset/experiments
	install -m 644 experiments/*.toml $(DESTDIR)$(PREFIX)/share/hotset/experiments/
	cp -r kernel $(DESTDIR)$(PREFIX)/share/hotset/

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/hotset
	rm -rf $(DESTDIR)$(PREFIX)/lib/hotset $(DESTDIR)$(PREFIX)/share/hotset

.PHONY: all install uninstall
