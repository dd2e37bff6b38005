import { type Call, requireActor } from '../../core/access/call.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { forbidden } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { holdProject } from '../projects/lock_project.ts';
import { storeFurtherFiles } from './files.ts';
import { type Home, mayCreate } from './snippet_home.ts';
import { findSnippet } from './queries.ts';
import type { SnippetRow } from './snippet_row.ts';
import { type SnippetText, checkSnippet } from './rules.ts';

export type NewSnippet = SnippetText & {
  description: string | null;
  /** Default: the instance's setting. */
  visibility?: Visibility | undefined;
};

/** Creates a snippet. @throws Failure 403, 400 */
export const createSnippet = async (call: Call, home: Home, input: NewSnippet): Promise<SnippetRow> => {
  if (!mayCreate(call, home)) throw forbidden();
  const visibility = input.visibility ?? call.settings.default_snippet_visibility;
  const { title, files } = checkSnippet(call, input, visibility);
  const [{ path: file_name, content }, ...others] = files;
  const actor = requireActor(call);
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
        description: input.description,
        visibility,
        user_agent: call.userAgent.slice(0, 500),
        ip_address: call.ip,
        created_at: tx.now,
        updated_at: tx.now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (others.length > 0) await storeFurtherFiles(tx, id, others);
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
