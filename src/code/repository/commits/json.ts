import type { Commit, Signature } from '../../../platform/git/protocol_types.ts';
import { briefPipelineShape } from '../statuses/pipeline_summary.ts';
import {
  array,
  dictionary,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../../platform/http/schema.ts';
import { readTrailers } from './trailers.ts';

/** A commit, in every reply that shows one. */
export const commitShape = object({
  id: string,
  short_id: string,
  created_at: timestamp,
  parent_ids: array(string),
  title: string,
  message: string,
  author_name: string,
  author_email: string,
  authored_date: timestamp,
  committer_name: string,
  committer_email: string,
  committed_date: timestamp,
  web_url: string,
});

const statsShape = object({ additions: int, deletions: int, total: int });

const listedShape = { ...commitShape.properties, stats: optional(statsShape) };

/** A commit in a list, with `stats` and trailers if requested. */
export const listedCommitShape = object({
  ...listedShape,
  trailers: optional(dictionary(string)),
  extended_trailers: optional(dictionary(array(string))),
});

/** A commit that a search found. */
export const foundCommitShape = object({
  ...commitShape.properties,
  last_pipeline: nullable(briefPipelineShape),
  project_id: int,
});

/** One commit. */
export const singleCommitShape = object({
  ...listedShape,
  status: nullable(string),
  project_id: int,
  last_pipeline: nullable(briefPipelineShape),
});

export const toShortId = (id: string): string => id.slice(0, 8);

const maxTitleLength = 100;
const cutTitle = 80;

/** Returns the first line. A line of 100 characters or more is cut to 80, between words. */
export const toCommitTitle = (message: string): string => {
  const line = (message.split('\n', 1)[0] ?? '').trimEnd();
  if (line === '') return message.trim() === '' ? '--no commit message' : '';
  if (line.length < maxTitleLength) return line;
  const characters = [...line];
  if (characters.length < maxTitleLength) return line;
  const blank = characters.lastIndexOf(' ', cutTitle);
  return `${characters.slice(0, blank > 0 ? blank : cutTitle).join('')}…`;
};

const two = (value: number): string => String(value).padStart(2, '0');

/** Parses a UTC offset to minutes; 0 for an invalid one. */
const parseOffset = (offset: string): number => {
  const [, sign, hours = '', minutes = ''] = /^([+-])(\d\d)(\d\d)$/.exec(offset) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  if (sign === undefined || Number(minutes) > 59 || total > 14 * 60) return 0;
  return sign === '-' ? -total : total;
};

/** The last second that has a year of four digits. */
const latest = 253_402_300_799;

/** Formats a signature's time in its own UTC offset: `2015-12-24T16:51:14.000+01:00`. */
export const formatSigned = ({ time, offset }: Signature): string => {
  const minutes = parseOffset(offset);
  const seconds = Math.min(Math.max(time, 0), latest);
  const local = new Date(Math.min(seconds + minutes * 60, latest) * 1_000);
  const zone = Math.abs(minutes);
  const sign = minutes < 0 ? '-' : '+';
  return `${local.toISOString().slice(0, -1)}${sign}${two(Math.floor(zone / 60))}:${two(zone % 60)}`;
};

/** @param projectUrl URL of the project's page */
export const commitJson = (commit: Commit, projectUrl: string) => {
  const { author, committer } = commit;
  const committed = formatSigned(committer);
  const isSameTime = author.time === committer.time && author.offset === committer.offset;
  return {
    id: commit.id,
    short_id: toShortId(commit.id),
    created_at: committed,
    parent_ids: commit.parents,
    title: toCommitTitle(commit.message),
    message: commit.message,
    author_name: author.name,
    author_email: author.email,
    authored_date: isSameTime ? committed : formatSigned(author),
    committer_name: committer.name,
    committer_email: committer.email,
    committed_date: committed,
    web_url: `${projectUrl}/commit/${commit.id}`,
  };
};

export type CommitStats = { additions: number; deletions: number };

export type StatsJson = CommitStats & { total: number };

export const statsJson = ({ additions, deletions }: CommitStats): StatsJson => ({
  additions,
  deletions,
  total: additions + deletions,
});

/** The members of a commit with its trailers. `trailers` has the last of several values of a name. */
export const trailersJson = ({ message }: Pick<Commit, 'message'>) => {
  const trailers = readTrailers(message);
  return {
    trailers: Object.fromEntries(trailers),
    extended_trailers: Object.fromEntries(
      Map.groupBy(trailers, ([name]) => name)
        .entries()
        .map(([name, values]) => [name, values.map(([, value]) => value)]),
    ),
  };
};
