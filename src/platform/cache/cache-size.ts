/** Cache limits of a process. */

/**
 * For an `LRUCache` that seldom holds much: it grows with its entries. With `max` it would set aside room for all of them when it is made, megabytes for
 * the caches of one service.
 * @param entries how many it holds at most
 */
export const atMost = (entries: number): { readonly maxSize: number; sizeCalculation(): number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});
