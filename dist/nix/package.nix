# The command, the daemon and the lab, as `make install` lays them out. Without a flake:
#   nix-build -E '(import <nixpkgs> { }).callPackage ./package.nix { }'
{
  lib,
  stdenv,
  rustPlatform,
  # What --version says.
  commit ? "unknown",
}:
let
  top = ../..;
  rustc = stdenv.hostPlatform.rust.rustcTarget;
  programs = "target/${rustc}/release";
in
rustPlatform.buildRustPackage {
  pname = "hotset";
  version = (lib.importTOML (top + "/Cargo.toml")).workspace.package.version;

  src = lib.cleanSourceWith {
    src = top;
    # What a build or a run leaves is no source.
    filter =
      path: type:
      lib.cleanSourceFilter path type
      && !(builtins.elem path (
        map (name: toString (top + "/${name}")) [
          "target"
          "results"
        ]
      ));
  };
  cargoLock.lockFile = top + "/Cargo.lock";

  # Guests have no library, so the programs are static. nixpkgs overrides .cargo/config.toml, which says so.
  buildInputs = [ stdenv.cc.libc.static ];
  env = {
    RUSTFLAGS = "-C target-feature=+crt-static";
    HOTSET_COMMIT = commit;
  };

  # The places where packages of other distributions have these.
  postPatch = ''
    substituteInPlace crates/lab/src/experiment/find.rs crates/kbuild/src/layout.rs \
      --replace-fail '"/usr/share/hotset' "\"$out/share/hotset"
    substituteInPlace crates/lab/src/guest/programs.rs \
      --replace-fail '"/usr/lib/hotset' "\"$out/lib/hotset" \
      --replace-fail '"/usr/sbin/hotsetd' "\"$out/bin/hotsetd"
  '';

  # As `make` does after cargo.
  postBuild = ''
    ${programs}/hotset manual ${programs}/manual
  '';

  # They boot kernels, or take minutes: script/test runs them.
  doCheck = false;

  dontCargoInstall = true;
  installPhase = ''
    runHook preInstall
    make install TARGET=${rustc} PREFIX=$out SYSCONFDIR=$out/etc DBUSDIR=$out/share/dbus-1/system.d
    runHook postInstall
  '';

  meta = {
    description = "Keeps a Linux machine's working set in memory";
    license = with lib.licenses; [
      gpl2Plus
      gpl2Only
    ];
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
    mainProgram = "hotset";
  };
}
