import type { Oid } from '../protocol_records.ts';

export type ListedRef = {
  name: string;
  target: Oid;
  /** null if it points to no commit, or through more than one tag. */
  commit: Oid | null;
  isTag: boolean;
  /** Time of the commit, in seconds. */
  time: number;
};
