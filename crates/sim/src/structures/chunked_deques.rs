//! Queues that are entered at both ends and left at the old end, in chunks of one pool.
//!
//! Later entries can be prefetched long before they are needed, which linked lists do not allow. Chunks
//! that a queue leaves are used again by all queues.
use std::collections::VecDeque;

/// Entries of a chunk.
const CHUNK: usize = 256;

#[derive(Default)]
struct Deque {
    /// From old to young.
    chunks: VecDeque<u32>,
    /// The first and the last chunk: most calls need no other.
    oldest: u32,
    youngest: u32,
    /// Where the oldest entry is in the first chunk, and where the youngest ends in the last.
    start: usize,
    end: usize,
    len: usize,
}

/// Queues over one pool of chunks.
pub struct ChunkedDeques {
    pool: Vec<[u32; CHUNK]>,
    free: Vec<u32>,
    queues: Vec<Deque>,
}

impl ChunkedDeques {
    /// `queues` empty queues.
    pub fn new(queues: usize) -> ChunkedDeques {
        ChunkedDeques {
            pool: Vec::new(),
            free: Vec::new(),
            queues: (0..queues).map(|_| Deque::default()).collect(),
        }
    }

    #[cold]
    fn chunk(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.pool.push([0; CHUNK]);
            self.pool.len() as u32 - 1
        })
    }

    /// Puts an entry at the young end.
    #[inline]
    pub fn push_young(&mut self, queue: usize, id: u32) {
        if self.queues[queue].end.is_multiple_of(CHUNK) {
            self.grow_young(queue);
        }
        let queue = &mut self.queues[queue];
        self.pool[queue.youngest as usize][queue.end % CHUNK] = id;
        queue.end += 1;
        queue.len += 1;
    }

    /// Adds a chunk at the young end, whose chunk is full or missing.
    #[cold]
    fn grow_young(&mut self, queue: usize) {
        let chunk = self.chunk();
        let queue = &mut self.queues[queue];
        queue.chunks.push_back(chunk);
        queue.youngest = chunk;
        queue.oldest = queue.chunks[0];
        queue.end = 0;
    }

    /// Puts an entry at the old end.
    #[inline]
    pub fn push_old(&mut self, queue: usize, id: u32) {
        if self.queues[queue].start == 0 {
            self.grow_old(queue);
        }
        let queue = &mut self.queues[queue];
        queue.start -= 1;
        queue.len += 1;
        self.pool[queue.oldest as usize][queue.start] = id;
    }

    #[cold]
    fn grow_old(&mut self, queue: usize) {
        let chunk = self.chunk();
        let queue = &mut self.queues[queue];
        queue.chunks.push_front(chunk);
        queue.oldest = chunk;
        queue.start = CHUNK;
        if queue.chunks.len() == 1 {
            queue.youngest = chunk;
            queue.end = CHUNK;
        }
    }

    /// The entry that has `older` older entries before it.
    #[inline]
    pub fn from_old(&self, queue: usize, older: usize) -> Option<u32> {
        let queue = &self.queues[queue];
        (older < queue.len).then(|| {
            let at = queue.start + older;
            let chunk = match at / CHUNK {
                0 => queue.oldest,
                later => queue.chunks[later],
            };
            self.pool[chunk as usize][at % CHUNK]
        })
    }

    /// Takes the oldest entry out and returns it.
    #[inline]
    pub fn pop_old(&mut self, queue: usize) -> Option<u32> {
        let oldest = self.from_old(queue, 0)?;
        self.drop_old(queue);
        Some(oldest)
    }

    /// Takes the oldest entry out. The queue must have one.
    #[inline(always)]
    pub fn drop_old(&mut self, queue: usize) {
        let here = &mut self.queues[queue];
        here.start += 1;
        here.len -= 1;
        if here.start == CHUNK {
            self.shrink(queue);
        }
    }

    /// Frees the oldest chunk, which has no entry left.
    #[cold]
    fn shrink(&mut self, queue: usize) {
        let queue = &mut self.queues[queue];
        self.free.extend(queue.chunks.pop_front());
        queue.start = 0;
        match queue.chunks.front() {
            Some(&next) => queue.oldest = next,
            // An end at a multiple of CHUNK makes the next push add a chunk.
            None => queue.end = 0,
        }
    }

    /// Is the queue empty?
    #[inline]
    pub fn is_empty(&self, queue: usize) -> bool {
        self.queues[queue].len == 0
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        let chunks: usize = self.queues.iter().map(|q| q.chunks.capacity()).sum();
        self.pool.capacity() * CHUNK * 4 + (self.free.capacity() + chunks) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Pcg64;

    #[test]
    fn queues_behave_as_vecdeques() {
        let mut random = Pcg64::new(3);
        let (mut ours, mut theirs) = (ChunkedDeques::new(3), vec![VecDeque::new(); 3]);
        for step in 0..100_000 {
            let queue = random.up_to(2) as usize;
            // Long runs of one kind, so that chunks come and go.
            match (step / 3000 + random.up_to(3)) % 5 {
                0 | 1 => {
                    ours.push_young(queue, step);
                    theirs[queue].push_back(step);
                }
                2 => {
                    ours.push_old(queue, step);
                    theirs[queue].push_front(step);
                }
                _ => assert_eq!(ours.pop_old(queue), theirs[queue].pop_front()),
            }
            let older = random.up_to(600) as usize;
            assert_eq!(
                ours.from_old(queue, older),
                theirs[queue].get(older).copied()
            );
            assert_eq!(ours.is_empty(queue), theirs[queue].is_empty());
        }
        let most = theirs.iter().map(VecDeque::len).sum::<usize>() + 60_000;
        assert!(ours.bytes() < most * 16, "chunks are used again");
    }
}
