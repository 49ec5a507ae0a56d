//! The modules of the policy, on a machine whose figures each test sets.
mod demand;
mod fragmentation;
mod headroom;
mod kswapd;
mod leak;
mod machine;
mod object_caching;
mod whole;
