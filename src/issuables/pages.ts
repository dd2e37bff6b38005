/**
 * Pages and totals of a project's lists, kept until a record of the project changes, or a name that they are looked
 * for by. Their versions are raised by the store with every such change, whoever makes it
 * (`db/migrations/revisions.ts`), and were read before what is kept under them.
 */
import type { Call, Platform } from '../access/call.ts';
import type { Project } from '../projects/find.ts';
import { oncePer } from '../once_per.ts';
import type { Version as Shown } from './texts.ts';

type Read = { versions: Shown[]; total: number };
type Stamped<T> = { stamp: string; value: T };

/** The oldest are dropped first. */
const mostKept = 1000;

/** What is being read is kept, too: who asks for the same meanwhile waits for it. */
type Kept = { pages: Map<string, Stamped<Promise<Read>>>; totals: Map<string, Stamped<Promise<number>>> };

type Asking = Pick<Call, 'platform' | 'names_version'>;

const keep = async <T>(
  kept: Map<string, Stamped<Promise<T>>>,
  key: string,
  stamp: string,
  read: () => Promise<T>,
): Promise<T> => {
  const known = kept.get(key);
  if (known?.stamp === stamp) return await known.value;
  const reading = { stamp, value: read() };
  kept.delete(key);
  kept.set(key, reading);
  if (kept.size > mostKept) kept.delete(kept.keys().next().value ?? '');
  try {
    return await reading.value;
  } catch (error) {
    if (kept.get(key) === reading) kept.delete(key);
    throw error;
  }
};

/** Of what the lists of one kind show. */
type Version = (project: Project) => number;

/** Keeps pages and totals of one kind of list. A key is all that they depend on beside the records and names. */
export const keptPages = (versionOf: Version) => {
  const keptOf = oncePer((_platform: Platform): Kept => ({ pages: new Map(), totals: new Map() }));
  const stampOf = ({ names_version }: Asking, project: Project): string =>
    `${versionOf(project)} ${names_version}`;
  return {
    page: async (call: Asking, project: Project, key: string, read: () => Promise<Read>): Promise<Read> =>
      await keep(keptOf(call.platform).pages, key, stampOf(call, project), read),

    /**
     * A total over many projects, which have no version in common: kept until anything at all is committed. Only
     * that one reads again what does not change; each change costs a count.
     */
    wideTotal: async (
      { platform, db }: Pick<Call, 'platform' | 'db'>,
      key: string,
      count: () => Promise<number>,
    ): Promise<number> => {
      const { rows } = await platform.store.words.state.execute(db);
      return await keep(keptOf(platform).totals, key, rows[0]?.state ?? '', count);
    },

    /** As `page`, for the total that all pages of a list share. */
    total: async (
      call: Asking,
      project: Project,
      key: string,
      count: () => Promise<number>,
    ): Promise<number> => await keep(keptOf(call.platform).totals, key, stampOf(call, project), count),
  };
};
