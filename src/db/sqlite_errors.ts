/** What an error of `node:sqlite` says; https://www.sqlite.org/rescode.html has the numbers. */
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

/** The disk is full: reads go on, writes are refused until there is room. */
export const isFull = (error: unknown): boolean => primaryCode(error) === full;

/** The file, or one that lies beside it, can be neither opened nor made. */
export const isUnopenable = (error: unknown): boolean => primaryCode(error) === cannotOpen;

/** Another process holds the lock. */
export const isBusy = (error: unknown): boolean => primaryCode(error) === busy;

/** What is on the disk is no longer known: nothing more may be acknowledged. */
export const isDamage = (error: unknown): boolean =>
  [ioError, corrupt, notADatabase].includes(primaryCode(error));
