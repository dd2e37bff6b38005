/** How much one request may bring or take. */

/** Bytes of a body with files in it. */
export const largestCommit = 32 * 1024 * 1024;

/** Bytes of a file that is told as JSON; a larger one is there raw. */
export const largestJsonFile = 20 * 1024 * 1024;

/** Bytes of a file that are answered from memory; a larger one is streamed. */
export const largestWhole = 1024 * 1024;

/** Commits that a comparison lists. */
export const mostCompared = 1_000;

/** Lines that are told with whoever wrote them. */
export const largestBlamed = 5 * 1024 * 1024;
