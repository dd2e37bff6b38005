/** Result codes of `node:sqlite` errors; see https://www.sqlite.org/rescode.html. */
const extendedCode = (error: unknown): number =>
  Number((error as { errcode?: unknown } | null)?.errcode ?? 0);
const primaryCode = (error: unknown): number => extendedCode(error) & 0xff;

const busy = 5;
const ioError = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;

export const isUnique = (error: unknown): boolean => [2067, 1555].includes(extendedCode(error));
export const isForeignKey = (error: unknown): boolean => extendedCode(error) === 787;

/** Returns whether the disk is full: reads continue, writes are refused until space is freed. */
export const isFull = (error: unknown): boolean => primaryCode(error) === full;

/** Returns whether the file, or a file next to it, can be neither opened nor created. */
export const isUnopenable = (error: unknown): boolean => primaryCode(error) === cannotOpen;

/** Returns whether another process holds the lock. */
export const isBusy = (error: unknown): boolean => primaryCode(error) === busy;

/** Returns whether the state on disk is unknown, so that no more writes may be acknowledged. */
export const isDamage = (error: unknown): boolean =>
  [ioError, corrupt, notADatabase].includes(primaryCode(error));
