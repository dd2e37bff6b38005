/** Limits of one request. */

/** Maximum bytes of a request body with file contents. */
export const maxCommitBytes = 32 * 1024 * 1024;

/** Maximum bytes of a file in a JSON reply; larger files are served raw only. */
export const maxJsonFileBytes = 20 * 1024 * 1024;

/** Maximum bytes of a file served from memory; larger files are streamed. */
export const maxBytesInMemory = 1024 * 1024;

/** Maximum commits in a comparison. */
export const maxComparedCommits = 1_000;

/** Maximum bytes of a file that can be blamed. */
export const maxBlamedBytes = 5 * 1024 * 1024;
