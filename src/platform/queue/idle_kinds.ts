/**
 * Remembers kinds without due work, so that the end of a piece in a full lane does not search its waiting rows for
 * other kinds.
 */
import { type Kinds, toKindsKey } from './leases.ts';

export type IdleKinds = {
  isIdle: (kinds: Kinds) => boolean;
  /** Call it before a look. Returns what to call if nothing was due. */
  startLook: (kinds: Kinds) => () => void;
  /** A piece ended: work that waited for its turn may be due. */
  forget: (name: string) => void;
  forgetAll: () => void;
};

/** Returns whether a kind is one of these. */
export const isOfKinds = (kinds: Kinds, name: string): boolean =>
  'only' in kinds ? kinds.only.includes(name) : !kinds.except.includes(name);

/** @param maxAge milliseconds after which work may have become due by time, or in another process */
export const makeIdleKinds = (maxAge: number): IdleKinds => {
  const noted = new Map<string, { kinds: Kinds; until: number }>();
  let changes = 0;
  return {
    isIdle: (kinds) => (noted.get(toKindsKey(kinds))?.until ?? 0) > performance.now(),
    startLook: (kinds) => {
      const before = changes;
      return () => {
        if (changes === before) noted.set(toKindsKey(kinds), { kinds, until: performance.now() + maxAge });
      };
    },
    forget: (name) => {
      changes += 1;
      for (const [key, { kinds }] of noted) if (isOfKinds(kinds, name)) noted.delete(key);
    },
    forgetAll: () => {
      changes += 1;
      noted.clear();
    },
  };
};
