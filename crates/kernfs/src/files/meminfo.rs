//! /proc/meminfo (fs/proc/meminfo.c).
use crate::parse::fields::{fields, Fields};
use crate::parse::text;
use crate::ErrorKind;

fields! {
    /// /proc/meminfo, in KiB, but `HugePages_*`, which counts huge pages of the default size. A
    /// method gives `None` where this kernel has no such field.
    Meminfo {
        mem_total = "MemTotal",
        mem_free = "MemFree",
        mem_available = "MemAvailable",
        buffers = "Buffers",
        cached = "Cached",
        swap_cached = "SwapCached",
        /// Active(anon) + Active(file).
        active = "Active",
        inactive = "Inactive",
        active_anon = "Active(anon)",
        inactive_anon = "Inactive(anon)",
        active_file = "Active(file)",
        inactive_file = "Inactive(file)",
        unevictable = "Unevictable",
        mlocked = "Mlocked",
        swap_total = "SwapTotal",
        swap_free = "SwapFree",
        /// From 5.19 on: memory that zswap itself takes.
        zswap = "Zswap",
        dirty = "Dirty",
        writeback = "Writeback",
        anon_pages = "AnonPages",
        mapped = "Mapped",
        shmem = "Shmem",
        /// From 4.20 on: SReclaimable and all other memory that a shrinker can free.
        k_reclaimable = "KReclaimable",
        slab = "Slab",
        s_reclaimable = "SReclaimable",
        s_unreclaim = "SUnreclaim",
        kernel_stack = "KernelStack",
        page_tables = "PageTables",
        sec_page_tables = "SecPageTables",
        bounce = "Bounce",
        writeback_tmp = "WritebackTmp",
        vmalloc_used = "VmallocUsed",
        percpu = "Percpu",
        hardware_corrupted = "HardwareCorrupted",
        anon_huge_pages = "AnonHugePages",
        cma_total = "CmaTotal",
        cma_free = "CmaFree",
        unaccepted = "Unaccepted",
        balloon = "Balloon",
        gpu_active = "GPUActive",
        gpu_reclaim = "GPUReclaim",
        huge_pages_total = "HugePages_Total",
        huge_pages_free = "HugePages_Free",
        huge_pages_rsvd = "HugePages_Rsvd",
        huge_pages_surp = "HugePages_Surp",
        hugepagesize = "Hugepagesize",
        /// Huge page pools of all sizes.
        hugetlb_all = "Hugetlb",
    }
}

impl Meminfo {
    /// Reads the text of /proc/meminfo.
    ///
    /// # Errors
    /// Malformed text, or a text that ends before the fields that every kernel has.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        parse(&mut self.fields, text, |line| Some(line))?;
        for (missing, found) in [
            ("MemTotal", self.mem_total()),
            ("MemFree", self.mem_free()),
            ("SUnreclaim", self.s_unreclaim()),
        ] {
            found.ok_or(ErrorKind::Truncated { missing })?;
        }
        Ok(())
    }

    /// KiB in the huge page pools: `Hugetlb`, or where the kernel lacks it (before 4.16) the pool of
    /// the default size.
    #[must_use]
    pub fn hugetlb(&self) -> Option<u64> {
        self.hugetlb_all().or_else(|| {
            self.huge_pages_total()?
                .checked_mul(self.hugepagesize().unwrap_or(0))
        })
    }
}

/// Lines of `Name:  number kB`; `strip` removes the text before the name.
pub(crate) fn parse(
    fields: &mut Fields,
    bytes: &[u8],
    strip: impl Fn(&[u8]) -> Option<&[u8]>,
) -> Result<(), ErrorKind> {
    fields.begin();
    for (line, bytes) in text::lines(bytes)? {
        let malformed = |problem| ErrorKind::Malformed { line, problem };
        let bytes = strip(bytes).ok_or(malformed("not a line of this node"))?;
        let colon = bytes.iter().position(|&byte| byte == b':');
        let colon = colon.ok_or(malformed("not a name, a colon and a number"))?;
        let (digits, unit) = text::word(&bytes[colon + 1..]);
        let value = text::number(digits).ok_or(malformed("not a name, a colon and a number"))?;
        if !matches!(text::trim(unit), b"" | b"kB") {
            return Err(malformed("a unit other than kB"));
        }
        fields.put(&bytes[..colon], value).map_err(malformed)?;
    }
    fields.end();
    Ok(())
}
