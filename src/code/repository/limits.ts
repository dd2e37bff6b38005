/** Limits of one request. */

/** Maximum bytes of a request body with file contents. */
export const largestCommit = 32 * 1024 * 1024;

/** Maximum bytes of a file in a JSON reply; larger files are served raw only. */
export const largestJsonFile = 20 * 1024 * 1024;

/** Maximum bytes of a file served from memory; larger files are streamed. */
export const largestInMemory = 1024 * 1024;

/** Maximum commits in a comparison. */
export const mostComparedCommits = 1_000;

/** Maximum bytes of a file that can be blamed. */
export const largestBlamed = 5 * 1024 * 1024;
