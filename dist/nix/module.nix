# hotsetd as a service of NixOS, by the unit that hotset ships: with its sandbox, and the knobs given back after a crash.
# An example:
#   services.hotsetd.enable = true;
#   services.hotsetd.settings.protect.clean_min_ratio = 15;
# systemd-oomd kills as well, and hotsetd leaves the kill to it. To have hotsetd kill: systemd.oomd.enable = false;
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.hotsetd;
  toml = pkgs.formats.toml { };
  written = toml.generate "hotsetd.conf" cfg.settings;
  # A wrong setting fails here, before the running system changes.
  checked = pkgs.runCommand "hotsetd.conf" { } ''
    ${cfg.package}/bin/hotsetd --config ${written} --check-config
    cp ${written} $out
  '';
  protect = cfg.settings.protect or { };
  listen = (cfg.settings.metrics or { }).listen or "";
  # Drop-ins that the package has, and that are off elsewhere.
  dropIn =
    name:
    pkgs.runCommand "hotsetd-${name}" { } ''
      install -D -m 644 ${cfg.package}/share/hotset/systemd/${name}.conf \
        $out/lib/systemd/system/hotsetd.service.d/${name}.conf
    '';
in
{
  options.services.hotsetd = {
    enable = lib.mkEnableOption "hotsetd, which keeps the working set in memory";

    package = lib.mkOption {
      type = lib.types.package;
      default = pkgs.callPackage ./package.nix { };
      defaultText = lib.literalExpression "pkgs.callPackage ./package.nix { }";
      description = "The package with hotsetd and hotset.";
    };

    settings = lib.mkOption {
      inherit (toml) type;
      default = { };
      example = lib.literalExpression ''
        {
          aggressiveness = 1;
          protect.clean_min_ratio = 15;
          tunables.at_start."vm.swappiness" = 100;
        }
      '';
      description = ''
        What stands in {file}`/etc/hotset/hotsetd.conf`: see {manpage}`hotsetd.conf(5)`.
        `lock_mb` and a TCP address in `metrics.listen` give the unit the rights that they need.
      '';
    };
  };

  config = lib.mkIf cfg.enable {
    environment.systemPackages = [ cfg.package ];
    environment.etc."hotset/hotsetd.conf".source = checked;

    # The members of this group may read status and metrics.
    users.groups.hotset = { };
    # Lets hotsetd warn programs over the bus of the system.
    services.dbus.packages = [ cfg.package ];

    systemd.packages =
      [ cfg.package ]
      ++ lib.optional ((protect.lock_mb or 0) > 0) (dropIn "lock_mb")
      ++ lib.optional (listen != "" && !lib.hasPrefix "unix:" listen) (dropIn "metrics");
    systemd.services.hotsetd = {
      wantedBy = [ "multi-user.target" ];
      # notify-send tells users of kills.
      path = [ pkgs.libnotify ];
      reloadTriggers = [ checked ];
    };
  };
}
