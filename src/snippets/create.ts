import { type Call, actorOf } from '../access/call.ts';
import type { Visibility } from '../db/schema.ts';
import { forbidden } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { holdProject } from '../projects/hold.ts';
import { type Home, mayCreate } from './home.ts';
import { type SnippetRow, findSnippet } from './queries.ts';
import { type SnippetText, checkSnippet } from './rules.ts';

export type NewSnippet = SnippetText & {
  description: string | null;
  /** Default: as the instance says. */
  visibility?: Visibility | undefined;
};

/** @throws Failure 403, 400 */
export const createSnippet = async (call: Call, home: Home, given: NewSnippet): Promise<SnippetRow> => {
  if (!mayCreate(call, home)) throw forbidden();
  const visibility = given.visibility ?? call.settings.default_snippet_visibility;
  const { title, file_name, content } = checkSnippet(call, given, visibility);
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    if (home !== null) await holdProject(tx, home.id);
    const { id } = await tx.db
      .insertInto('snippets')
      .values({
        project_id: home?.id ?? null,
        author_id: actor.user.id,
        title,
        file_name,
        content,
        description: given.description,
        visibility,
        user_agent: call.userAgent.slice(0, 500),
        ip_address: call.ip,
        created_at: tx.now,
        updated_at: tx.now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await recordEvent(tx, actor, {
      kind: 'snippet.created',
      project_id: home?.id ?? null,
      target_type: 'Snippet',
      target_id: id,
      data: { visibility },
    });
    return await findSnippet(call, tx.db, home, id);
  });
};
