# For installing only; script/ has everything else.
PREFIX ?= /usr
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=
PROGRAMS = target/x86_64-unknown-linux-gnu/release

all:
	cargo build --release --locked

install: all
	install -D -m 755 $(PROGRAMS)/hotset $(DESTDIR)$(PREFIX)/bin/hotset
	install -D -m 755 $(PROGRAMS)/hotset-guest $(DESTDIR)$(PREFIX)/lib/hotset/hotset-guest
	install -D -m 755 $(PROGRAMS)/hotset-database $(DESTDIR)$(PREFIX)/lib/hotset/hotset-database
	install -d $(DESTDIR)$(PREFIX)/share/hotset/experiments
	install -m 644 experiments/*.toml experiments/*.csv.zst $(DESTDIR)$(PREFIX)/share/hotset/experiments/
	cp -r kernel $(DESTDIR)$(PREFIX)/share/hotset/
	install -D -m 755 $(PROGRAMS)/hotsetd $(DESTDIR)$(PREFIX)/sbin/hotsetd
	install -D -m 644 dist/man/hotsetd.8 $(DESTDIR)$(MANDIR)/man8/hotsetd.8
	install -D -m 644 dist/man/hotsetd.conf.5 $(DESTDIR)$(MANDIR)/man5/hotsetd.conf.5
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf.d
	sed 's|/usr/sbin/hotsetd|$(PREFIX)/sbin/hotsetd|' dist/systemd/hotsetd.service \
		> $(DESTDIR)$(UNITDIR)/hotsetd.service
	chmod 644 $(DESTDIR)$(UNITDIR)/hotsetd.service
# Not where systemd looks for drop-ins: it is off until the administrator links it there.
	install -d $(DESTDIR)$(PREFIX)/share/hotset/systemd
	sed 's|/usr/share/hotset|$(PREFIX)/share/hotset|' dist/systemd/lock_mb.conf \
		> $(DESTDIR)$(PREFIX)/share/hotset/systemd/lock_mb.conf
	chmod 644 $(DESTDIR)$(PREFIX)/share/hotset/systemd/lock_mb.conf
# What the administrator wrote is never written over.
	[ -e $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf ] || install -m 644 \
		dist/systemd/hotsetd.conf $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/hotset $(DESTDIR)$(PREFIX)/sbin/hotsetd
	rm -f $(DESTDIR)$(MANDIR)/man8/hotsetd.8 $(DESTDIR)$(MANDIR)/man5/hotsetd.conf.5
	rm -f $(DESTDIR)$(UNITDIR)/hotsetd.service
# A configuration that was changed stays.
	if cmp -s dist/systemd/hotsetd.conf $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf; then \
		rm $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf; fi
	-rmdir $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf.d $(DESTDIR)$(SYSCONFDIR)/hotset 2>/dev/null
	rm -rf $(DESTDIR)$(PREFIX)/lib/hotset $(DESTDIR)$(PREFIX)/share/hotset

.PHONY: all install uninstall
