export type Program = {
  /** Path of the file that runs in the thread. */
  path: string;
  /** Maximum milliseconds of one task, without the time that it waits for answers. */
  maxMilliseconds: number;
  /** Maximum megabytes of memory. */
  memory: number;
};
