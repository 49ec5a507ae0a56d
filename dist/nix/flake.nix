# hotset for Nix, and hotsetd as a service of NixOS. The source is the checkout that this folder lies in:
#   nix build 'git+file:///PATH/TO/CHECKOUT?dir=dist/nix'
# In a configuration of NixOS: inputs.hotset.url as above, and inputs.hotset.nixosModules.default among the modules.
{
  description = "Keeps a machine's working set in memory";

  # Rust 1.87 or later.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      package =
        pkgs:
        pkgs.callPackage ./package.nix { commit = self.shortRev or self.dirtyShortRev or "unknown"; };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
      overlays.default = final: _: { hotset = package final; };
      nixosModules.default =
        { pkgs, lib, ... }:
        {
          imports = [ ./module.nix ];
          services.hotsetd.package = lib.mkDefault (package pkgs);
        };
    };
}
