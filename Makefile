# Builds and installs; script/ has everything else.
#
#   make                    # builds; needs no root
#   sudo make install       # installs what make built, below PREFIX; DESTDIR for packagers
#   sudo make uninstall
PREFIX ?= /usr
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
MANDIR ?= $(PREFIX)/share/man
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
DOCDIR ?= $(PREFIX)/share/doc/hotset
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# A message bus reads policies here and in /etc, wherever PREFIX is.
DBUSDIR ?= /usr/share/dbus-1/system.d
DESTDIR ?=
# As in script/env.
TARGET ?= $(shell uname -m)-unknown-linux-gnu
ARCH = $(firstword $(subst -, ,$(TARGET)))
PROGRAMS = target/$(TARGET)/release
# Man pages and completions of hotset, made from its own definitions.
MANUAL = $(PROGRAMS)/manual

# What names installed files names them where they are.
PLACES = -e 's|/usr/sbin/hotsetd|$(PREFIX)/sbin/hotsetd|' -e 's|/usr/bin/hotset|$(PREFIX)/bin/hotset|' -e 's|/usr/share/hotset|$(PREFIX)/share/hotset|' \
	-e 's|/usr/share/doc/hotset|$(DOCDIR)|'

all:
	CARGO_BUILD_TARGET=$(TARGET) && . script/env && cargo build --release --locked
	rm -rf $(MANUAL) && $(PROGRAMS)/hotset manual $(MANUAL)

# Builds nothing: root may have no compiler.
install:
	@[ -f $(PROGRAMS)/hotsetd ] || { echo "make install: nothing is built yet; run make first" >&2; exit 1; }
	install -D -m 755 $(PROGRAMS)/hotset $(DESTDIR)$(PREFIX)/bin/hotset
	install -d $(DESTDIR)$(PREFIX)/share/hotset
# The lab runs on x86-64 alone.
ifeq ($(ARCH),x86_64)
	install -D -m 755 $(PROGRAMS)/hotset-guest $(DESTDIR)$(PREFIX)/lib/hotset/hotset-guest
	install -D -m 755 $(PROGRAMS)/hotset-database $(DESTDIR)$(PREFIX)/lib/hotset/hotset-database
	cp -r experiments $(DESTDIR)$(PREFIX)/share/hotset/
	cp -r kernel $(DESTDIR)$(PREFIX)/share/hotset/
endif
	install -D -m 755 $(PROGRAMS)/hotsetd $(DESTDIR)$(PREFIX)/sbin/hotsetd
# The pages link to each other, so their folders are as in the source.
	install -d $(DESTDIR)$(DOCDIR) $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man8
	cp -r docs $(DESTDIR)$(DOCDIR)/
	install -m 644 README.md ARCHITECTURE.md CONTRIBUTING.md SPECIFICATION.md $(DESTDIR)$(DOCDIR)/
	sed $(PLACES) dist/man/hotsetd.8 > $(DESTDIR)$(MANDIR)/man8/hotsetd.8
	sed $(PLACES) dist/man/hotsetd.conf.5 > $(DESTDIR)$(MANDIR)/man5/hotsetd.conf.5
	chmod 644 $(DESTDIR)$(MANDIR)/man8/hotsetd.8 $(DESTDIR)$(MANDIR)/man5/hotsetd.conf.5
	install -d $(DESTDIR)$(MANDIR)/man1
	install -m 644 $(MANUAL)/man1/*.1 $(DESTDIR)$(MANDIR)/man1/
	install -D -m 644 $(MANUAL)/completions/hotset.bash $(DESTDIR)$(BASHDIR)/hotset
	install -D -m 644 $(MANUAL)/completions/_hotset $(DESTDIR)$(ZSHDIR)/_hotset
	install -D -m 644 $(MANUAL)/completions/hotset.fish $(DESTDIR)$(FISHDIR)/hotset.fish
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf.d
	sed $(PLACES) dist/systemd/hotsetd.service > $(DESTDIR)$(UNITDIR)/hotsetd.service
	chmod 644 $(DESTDIR)$(UNITDIR)/hotsetd.service
	install -D -m 644 dist/dbus-1/hotset.conf $(DESTDIR)$(DBUSDIR)/hotset.conf
	install -D -m 644 dist/sysusers.d/hotset.conf $(DESTDIR)$(SYSUSERSDIR)/hotset.conf
# Not where systemd, Prometheus and other inits look: they are off until the administrator links them there.
	install -d $(DESTDIR)$(PREFIX)/share/hotset/systemd $(DESTDIR)$(PREFIX)/share/hotset/monitoring
	install -m 644 dist/prometheus/hotset.rules.yml dist/grafana/hotset.json $(DESTDIR)$(PREFIX)/share/hotset/monitoring/
	for file in lock_mb.conf metrics.conf hotset-textfile.service hotset-textfile.timer; do \
		sed $(PLACES) dist/systemd/$$file > $(DESTDIR)$(PREFIX)/share/hotset/systemd/$$file && \
		chmod 644 $(DESTDIR)$(PREFIX)/share/hotset/systemd/$$file || exit 1; done
	install -d $(DESTDIR)$(PREFIX)/share/hotset/openrc $(DESTDIR)$(PREFIX)/share/hotset/runit/hotsetd/log
	for file in openrc/hotsetd runit/hotsetd/run runit/hotsetd/finish runit/hotsetd/check runit/hotsetd/log/run; do \
		sed $(PLACES) dist/$$file > $(DESTDIR)$(PREFIX)/share/hotset/$$file && \
		chmod 755 $(DESTDIR)$(PREFIX)/share/hotset/$$file || exit 1; done
# What the administrator wrote is never written over.
	[ -e $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf ] || install -m 644 \
		dist/systemd/hotsetd.conf $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/hotset $(DESTDIR)$(PREFIX)/sbin/hotsetd
	rm -f $(DESTDIR)$(MANDIR)/man8/hotsetd.8 $(DESTDIR)$(MANDIR)/man5/hotsetd.conf.5
	rm -f $(DESTDIR)$(MANDIR)/man1/hotset.1 $(DESTDIR)$(MANDIR)/man1/hotset-*.1
	rm -f $(DESTDIR)$(BASHDIR)/hotset $(DESTDIR)$(ZSHDIR)/_hotset $(DESTDIR)$(FISHDIR)/hotset.fish
	rm -f $(DESTDIR)$(UNITDIR)/hotsetd.service $(DESTDIR)$(DBUSDIR)/hotset.conf $(DESTDIR)$(SYSUSERSDIR)/hotset.conf
# A configuration that was changed stays.
	if cmp -s dist/systemd/hotsetd.conf $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf; then \
		rm $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf; fi
	-rmdir $(DESTDIR)$(SYSCONFDIR)/hotset/hotsetd.conf.d $(DESTDIR)$(SYSCONFDIR)/hotset 2>/dev/null
# Folders of shells that this machine may not have.
	-rmdir -p --ignore-fail-on-non-empty $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR) 2>/dev/null
	rm -rf $(DESTDIR)$(PREFIX)/lib/hotset $(DESTDIR)$(PREFIX)/share/hotset $(DESTDIR)$(DOCDIR)

.PHONY: all install uninstall
