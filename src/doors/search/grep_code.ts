/** Searches the code of a branch, tag or commit that is not indexed: git reads its files. */
import type { Call } from '../../core/access/call.ts';
import type { Code } from '../../code/repository/find_code.ts';
import { requireRevision } from '../../code/repository/refs/resolve.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import type { Oid } from '../../platform/git/protocol_types.ts';
import { invalid, tooManyRequests } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { withMutex } from '../../platform/keyed_mutex.ts';
import { lowerAscii } from '../../platform/unicode.ts';
import { matchesWildcard } from '../../platform/wildcard.ts';
import { type CodeQuery, parseCodeQuery } from './code_query.ts';
import { type FoundBlob, foundBlobJson } from './search_indexed_code.ts';

/** Same limits as the index: further files are not found, and larger files are shown only by path. */
const maxFiles = 50_000;
const maxBytes = 256 * 1024;

/** Searches that read all files: one for each user, and two in all, so that others can read meanwhile. */
const queue = { maxCallers: 3, refuse: () => tooManyRequests(5) };

const inTurn = async <T>({ platform, viewer }: Call, work: () => Promise<T>): Promise<T> => {
  const user = viewer.user_id ?? 0;
  const half = `grep ${user % 2}`;
  return await withMutex(
    platform,
    `grep of ${user}`,
    async () => await withMutex(platform, half, work, { ...queue, maxCallers: 20 }),
    queue,
  );
};

/** Converts a pattern of `like` to one with `*`. */
const toWildcard = (like: string): string =>
  like.replaceAll(/\\([%_\\])|%/g, (_whole, literal: string | undefined) => literal ?? '*');

const matchesPaths = (path: string, { paths }: CodeQuery): boolean => {
  const lower = lowerAscii(path);
  return paths.every((patterns) => patterns.some((like) => matchesWildcard(toWildcard(like), lower)));
};

const findPaths = async (
  { repository }: Pick<Code, 'repository'>,
  commit: Oid,
  query: CodeQuery,
): Promise<string[]> => {
  const listing = { commit, path: '', recursive: true, offset: 0, limit: maxFiles };
  const [tree, { paths }] = await Promise.all([
    repository.ask('tree.list', listing),
    repository.ask('tree.grep', { commit, text: query.text }),
  ]);
  const withText = new Set(paths);
  const text = lowerAscii(query.text);
  return (tree?.entries ?? [])
    .filter(({ type, mode }) => type === 'blob' && mode !== '120000')
    .map(({ path }) => path)
    .filter((path) => (withText.has(path) || lowerAscii(path).includes(text)) && matchesPaths(path, query));
};

const readContent = async ({ repository }: Code, commit: Oid, path: string): Promise<string | null> => {
  const { result, body } = await repository.read('blob.at', { commit, path, max: maxBytes });
  if (result === null || !result.whole || body.includes(0)) return null;
  return body.toString('utf8');
};

/**
 * Lists the files of a ref whose content or path has a text.
 * @throws Failure 404 for an unknown ref, 429 while other such searches run, 400 for a text that is too short, or too much code to search
 */
export const grepCode = async (
  call: Call,
  code: Code,
  { search, ref }: { search: string; ref: string },
  { limit, offset }: PageRequest,
): Promise<Page<FoundBlob>> => {
  const query = parseCodeQuery(search);
  // A line has no line end.
  if (query.text.includes('\n') || query.text.includes('\0')) return { items: [], total: 0 };
  const { commit } = await requireRevision(code, ref);
  try {
    const matchingPaths = await inTurn(call, async () => await findPaths(code, commit, query));
    const paths = matchingPaths.toSorted((a, b) => (a < b ? -1 : 1));
    const items = await Promise.all(
      paths.slice(offset, offset + limit).map(async (path) => {
        const content = await readContent(code, commit, path);
        return foundBlobJson({ path, content, project_id: code.project.id, ref }, query.text);
      }),
    );
    return { items, total: paths.length };
  } catch (error) {
    if (isGitFailure(error, 'limit') || isGitFailure(error, 'too_large'))
      throw invalid({ ref: ['has too much code to search: only the default branch is indexed'] });
    throw error;
  }
};
