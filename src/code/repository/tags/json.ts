import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Ref } from '../../../platform/git/protocol_types.ts';
import { bool, nullable, object, string, timestamp } from '../../../platform/http/schema.ts';
import { type Code, getWebUrl } from '../find_code.ts';
import { commitJson, commitShape, formatSigned } from '../commits/json.ts';
import { isProtected, loadProtectedTags } from '../protection/rules.ts';
import { loadCommits, tagPrefix } from '../refs/resolve.ts';
import { trimEnd } from '../../../platform/trim.ts';

export const releaseOfTagShape = object({ tag_name: string, description: nullable(string) });

export const tagShape = object({
  name: string,
  message: nullable(string),
  target: string,
  commit: nullable(commitShape),
  release: nullable(releaseOfTagShape),
  protected: bool,
  created_at: nullable(timestamp),
});

type Release = { tag: string; description: string | null };

/** Loads the releases of these tags, by tag. */
const loadReleases = async (db: Reader, projectId: number, tags: string[]): Promise<Map<string, Release>> => {
  if (tags.length === 0) return new Map();
  const rows = await db
    .selectFrom('releases')
    .select(['tag', 'description'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`tag in (${sql.join(tags)})`)
    .execute();
  return new Map(rows.map((row) => [row.tag, row]));
};

/** Converts tags with their commits and releases. Uses a constant number of queries. */
export const tagsJson = async (call: Call, { project, repository }: Code, refs: readonly Ref[]) => {
  const names = refs.map(({ name }) => name.slice(tagPrefix.length));
  const [commits, rules, releases] = await Promise.all([
    loadCommits(
      repository,
      refs.map(({ commit }) => commit),
    ),
    loadProtectedTags(call.db, project.id),
    loadReleases(call.db, project.id, names),
  ]);
  const projectUrl = getWebUrl(call, project);
  return refs.map((ref, at) => {
    const name = names[at] ?? '';
    const commit = ref.commit === null ? undefined : commits.get(ref.commit);
    const release = releases.get(name);
    return {
      name,
      message: ref.message === null ? null : trimEnd(ref.message, '\n'),
      target: ref.target,
      commit: commit === undefined ? null : commitJson(commit, projectUrl),
      release: release === undefined ? null : { tag_name: name, description: release.description },
      protected: isProtected(rules, name),
      created_at: ref.tagger === null ? null : formatSigned(ref.tagger),
    };
  });
};
