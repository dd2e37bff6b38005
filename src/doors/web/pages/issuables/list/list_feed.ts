/** A list of issues or merge requests as an Atom feed. */
import type { RawPage, Visit } from '../../../page.ts';
import { atomFeed } from '../../../parts/feeds/atom.ts';
import type { AnyListScope } from './list_scope.ts';

/** Characters of a description that a feed shows. */
const maxSummary = 1_000;

/** Returns the start of a description, as feeds and calendars show it. */
export const summaryOf = ({ description }: { description: string | null }): string =>
  (description ?? '').slice(0, maxSummary);

type Listed = {
  iid: number;
  title: string;
  description: string | null;
  references: { full: string };
  updated_at: string;
  author: { name: string; username: string };
};

type Feed<R extends Listed> = {
  title: string;
  /** Path of the feed. */
  self: string;
  records: readonly R[];
  /** Prefix of the number of a record: `#`. */
  sign: '#' | '!';
  pathOf: (record: R) => string;
};

/** Returns the newest records of a list as a feed. */
export const listFeed = <R extends Listed>(
  visit: Visit,
  { path, project }: Pick<AnyListScope, 'path' | 'project'>,
  { title, self, records, sign, pathOf }: Feed<R>,
): RawPage => {
  const entries = records.map((record) => ({
    title: `${project === null ? record.references.full : `${sign}${record.iid}`} ${record.title}`,
    path: pathOf(record),
    updated: Date.parse(record.updated_at),
    author: { name: record.author.name, uri: `${visit.call.baseUrl}/${record.author.username}` },
    summary: summaryOf(record),
  }));
  return atomFeed(visit, { title, path, self, entries });
};
