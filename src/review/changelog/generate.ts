/** Generates the section of a version for a changelog. */
import type { Call } from '../../core/access/call.ts';
import { type Author, loadAuthors } from '../../code/repository/commits/load_authors.ts';
import { type Code, getWebUrl } from '../../code/repository/find_code.ts';
import { requireRevision } from '../../code/repository/refs/resolve.ts';
import { invalid } from '../../platform/errors.ts';
import type { Oid } from '../../platform/git/protocol_types.ts';
import { type ChangelogCommit, collectCommits } from './collect_commits.ts';
import { loadMergeRequests } from './entry_facts.ts';
import { formatDate } from './format_date.ts';
import { type ChangelogConfig, readChangelogConfig } from './read_config.ts';
import { type TemplateValue, changelogFailure, parseTemplate, renderTemplate } from './template.ts';
import { findPreviousTag, parseVersion } from './versions.ts';

export type ChangelogRequest = {
  version: string;
  from?: string | undefined;
  to?: string | undefined;
  /** Milliseconds. */
  date?: number | undefined;
  trailer: string;
  config_file?: string | undefined;
};

/** @throws Failure 400 */
export const readVersion = (text: string) => {
  const version = parseVersion(text);
  if (version === null) throw invalid({ version: ['is invalid'] });
  return version;
};

const findStart = async (
  code: Code,
  { version, from }: ChangelogRequest,
  { tagPattern }: ChangelogConfig,
): Promise<Oid> => {
  if (from !== undefined && from !== '') return (await requireRevision(code, from)).commit;
  const previous = await findPreviousTag(code, readVersion(version), tagPattern);
  if (previous === null) {
    throw changelogFailure(
      'The commit start range is unspecified, and no previous tag could be found to use instead',
    );
  }
  return previous;
};

const authorValue = (author: Author | undefined): { [name: string]: TemplateValue } | undefined =>
  author && {
    reference: `@${author.username}`,
    contributor: !author.isMember,
    credit: !author.isMember,
  };

/** Builds the data of entries, by category. */
const collectEntries = async (
  call: Call,
  { project }: Code,
  commits: readonly ChangelogCommit[],
): Promise<Map<string, TemplateValue[]>> => {
  const url = getWebUrl(call, project);
  const [authors, requests] = await Promise.all([
    loadAuthors(
      call,
      project,
      commits.map(({ commit }) => commit.author.email),
    ),
    loadMergeRequests(
      call,
      project,
      commits.map(({ commit }) => commit.id),
    ),
  ]);
  const entries = new Map<string, TemplateValue[]>();
  for (const { commit, category, trailers } of commits) {
    const iid = requests.get(commit.id);
    const entry: TemplateValue = {
      title: commit.message.split('\n')[0] ?? '',
      commit: {
        reference: `${project.full_path}@${commit.id}`,
        web_url: `${url}/-/commit/${commit.id}`,
        trailers: Object.fromEntries(trailers),
      },
      author: authorValue(authors.get(commit.author.email.toLowerCase())),
      merge_request:
        iid === undefined
          ? undefined
          : { reference: `${project.full_path}!${iid}`, web_url: `${url}/-/merge_requests/${iid}` },
    };
    entries.getOrInsertComputed(category, () => []).push(entry);
  }
  return entries;
};

/** Returns the categories that have entries: configured categories in their order, then others. */
const toCategories = (
  { categories }: ChangelogConfig,
  entries: ReadonlyMap<string, TemplateValue[]>,
): TemplateValue[] => {
  const byTitle = new Map<string, TemplateValue[]>([...categories.values()].map((title) => [title, []]));
  for (const [name, some] of entries) {
    byTitle.getOrInsertComputed(categories.get(name) ?? name, () => []).push(...some);
  }
  return [...byTitle]
    .filter(([, some]) => some.length > 0)
    .map(([title, some]) => ({ title, count: some.length, single_change: some.length === 1, entries: some }));
};

/**
 * Generates the section of a version as Markdown.
 * @throws Failure 400 for an invalid version, 404 for an unknown commit, 422 for what the configuration cannot do
 */
export const generateSection = async (call: Call, code: Code, request: ChangelogRequest): Promise<string> => {
  const { version, to = '', trailer, date = call.now } = request;
  readVersion(version);
  if (!/^[A-Za-z0-9-]+$/.test(trailer)) throw invalid({ trailer: ['is invalid'] });
  const config = await readChangelogConfig(code, request.config_file);
  const template = parseTemplate(config.template);
  const heading = `## ${version} (${formatDate(date, config.date_format)})`;
  const from = await findStart(code, request, config);
  const end = await requireRevision(code, to === '' ? 'HEAD' : to);
  const commits = await collectCommits(code, { from, to: end.commit }, trailer);
  const categories = toCategories(config, await collectEntries(call, code, commits));
  return `${heading}\n\n${renderTemplate(template, { categories }).trimEnd()}\n`;
};
