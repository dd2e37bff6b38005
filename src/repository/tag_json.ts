import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import type { Ref } from '../git/protocol_types.ts';
import { bool, nullable, object, string, timestamp } from '../http/schema.ts';
import { type Code, webUrlOf } from './code.ts';
import { commitJson, commitShape, formatSigned } from './commit_json.ts';
import { isProtected, protectedTags } from './protected.ts';
import { commitsById, tagPrefix } from './resolve.ts';

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

/** What was written about the releases of these tags. */
const releasesOf = async (db: Reader, projectId: number, tags: string[]): Promise<Map<string, Release>> => {
  if (tags.length === 0) return new Map();
  const rows = await db
    .selectFrom('releases')
    .select(['tag', 'description'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`tag in (${sql.join(tags)})`)
    .execute();
  return new Map(rows.map((row) => [row.tag, row]));
};

/** The tags with their commits and releases: a few questions for all of them. */
export const tagsJson = async (call: Call, { project, repository }: Code, refs: readonly Ref[]) => {
  const names = refs.map(({ name }) => name.slice(tagPrefix.length));
  const [commits, rules, releases] = await Promise.all([
    commitsById(
      repository,
      refs.map(({ commit }) => commit),
    ),
    protectedTags(call.db, project.id),
    releasesOf(call.db, project.id, names),
  ]);
  const projectUrl = webUrlOf(call, project);
  return refs.map((ref, at) => {
    const name = names[at] ?? '';
    const commit = ref.commit === null ? undefined : commits.get(ref.commit);
    const release = releases.get(name);
    return {
      name,
      message: ref.message === null ? null : ref.message.replace(/\n+$/, ''),
      target: ref.target,
      commit: commit === undefined ? null : commitJson(commit, projectUrl),
      release: release === undefined ? null : { tag_name: name, description: release.description },
      protected: isProtected(rules, name),
      created_at: ref.tagger === null ? null : formatSigned(ref.tagger),
    };
  });
};
