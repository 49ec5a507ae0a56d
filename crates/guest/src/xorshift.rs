//! Random numbers, and random contents of pages.
use protocol::work::Fill;

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
/// Seeded, the same on every machine, and fast enough never to dominate a measurement.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // A state of zero would never change. The product keeps neighbouring seeds far apart.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number of at least 0, below 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_mut(8) {
            let random = self.next().to_le_bytes();
            word.copy_from_slice(&random[..word.len()]);
        }
    }

    /// Fills one page with contents of the kind `fill`.
    pub fn page(&mut self, page: &mut [u8], fill: Fill) {
        match fill {
            Fill::Zero => page.fill(0),
            Fill::Mixed => {
                let third = page.len() / 3;
                self.fill(&mut page[..third]);
            }
            Fill::Random => self.fill(page),
        }
    }
}
