/** Puts the write-ahead log of a database on disk. */
import { closeSync, fdatasyncSync, openSync } from 'node:fs';

export type LogSync = {
  /** Returns once everything committed so far is on disk. @throws Error; what is on disk is then unknown */
  sync: () => void;
  close: () => void;
};

/**
 * Opens the log of a database that is open for writing in WAL mode. SQLite keeps the same file until its last
 * connection closes, and itself puts the entry of a new one in its folder on disk.
 */
export const openLogSync = (file: string): LogSync => {
  const descriptor = openSync(`${file}-wal`, 'r');
  return { sync: () => fdatasyncSync(descriptor), close: () => closeSync(descriptor) };
};
