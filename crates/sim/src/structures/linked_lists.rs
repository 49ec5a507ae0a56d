//! Doubly linked lists of objects, linked by number. An object is on one list at most.
use crate::structures::huge_pages::{filled, prefetch};

#[derive(Clone, Copy)]
struct Links {
    /// Towards the head: the young end.
    younger: u32,
    older: u32,
}

/// Lists over the same pages.
pub struct LinkedLists {
    /// The links of each page, then those of each list's ring, where the list begins and ends.
    links: Vec<Links>,
    pages: u32,
}

impl LinkedLists {
    /// `lists` empty lists of pages below `pages`.
    pub fn new(pages: u32, lists: usize) -> LinkedLists {
        let none = Links {
            younger: 0,
            older: 0,
        };
        let mut links = filled(pages as usize + lists, none);
        for (index, ring) in links.iter_mut().enumerate().skip(pages as usize) {
            ring.younger = index as u32;
            ring.older = index as u32;
        }
        LinkedLists { links, pages }
    }

    /// list_add(): puts a page at the head, the young end.
    #[inline]
    pub fn add(&mut self, list: usize, page: u32) {
        let ring = self.pages + list as u32;
        let older = self.links[ring as usize].older;
        self.put_between(ring, older, page);
    }

    /// list_add_tail(): puts a page at the tail, the old end.
    #[inline]
    pub fn add_tail(&mut self, list: usize, page: u32) {
        let ring = self.pages + list as u32;
        let younger = self.links[ring as usize].younger;
        self.put_between(younger, ring, page);
    }

    #[inline(always)]
    fn put_between(&mut self, younger: u32, older: u32, page: u32) {
        self.links[page as usize] = Links { younger, older };
        self.links[younger as usize].older = page;
        self.links[older as usize].younger = page;
    }

    /// list_del(): takes a page out of its list.
    #[inline]
    pub fn del(&mut self, page: u32) {
        let Links { younger, older } = self.links[page as usize];
        self.links[younger as usize].older = older;
        self.links[older as usize].younger = younger;
    }

    /// The oldest page of a list.
    #[inline]
    pub fn tail(&self, list: usize) -> Option<u32> {
        let page = self.links[self.pages as usize + list].younger;
        if page >= self.pages {
            return None;
        }
        prefetch(&self.links, self.links[page as usize].younger as usize);
        Some(page)
    }

    /// Is the list empty?
    #[inline(always)]
    pub fn is_empty(&self, list: usize) -> bool {
        let ring = self.pages as usize + list;
        self.links[ring].younger == ring as u32
    }

    /// The place of a list's ring: between its youngest and its oldest page.
    pub fn ring(&self, list: usize) -> u32 {
        self.pages + list as u32
    }

    /// The next younger page, or the ring's place after the youngest page.
    #[inline(always)]
    pub fn younger(&self, place: u32) -> u32 {
        self.links[place as usize].younger
    }

    /// The next older page, or the ring's place after the oldest page.
    #[inline(always)]
    pub fn older(&self, place: u32) -> u32 {
        self.links[place as usize].older
    }

    /// Puts a page next to a place, on the older side.
    #[inline]
    pub fn insert_older(&mut self, place: u32, page: u32) {
        let older = self.links[place as usize].older;
        self.put_between(place, older, page);
    }

    /// Prefetches the links of a page.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        prefetch(&self.links, page as usize);
    }

    /// Prefetches the links of a page's neighbours. The page's own links should be cached by now.
    #[inline(always)]
    pub fn prefetch_neighbours(&self, page: u32) {
        let Links { younger, older } = self.links[page as usize];
        prefetch(&self.links, younger as usize);
        prefetch(&self.links, older as usize);
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.links.len() * size_of::<Links>()
    }
}
