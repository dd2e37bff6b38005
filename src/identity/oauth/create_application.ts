import type { Platform } from '../../core/platform.ts';
import { hashToken, generateTokenText } from '../../core/access/credentials/token_text.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { invalid } from '../../platform/errors.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { maxOwned } from './queries.ts';
import { type ApplicationInput, applicationProblems, splitWords } from './rules.ts';

/**
 * Registers an application.
 * @param input `owner_id` null: of the instance
 * @returns its id and its secret, to be shown once
 * @throws Failure 400
 */
export const createApplication = async (
  { store, random }: Pick<Platform, 'store' | 'random'>,
  cause: Cause,
  source: Source,
  input: ApplicationInput & { owner_id: number | null },
): Promise<{ id: number; secret: string }> => {
  const problems = applicationProblems(input);
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const secret = generateTokenText(random, 'gntoas');
  const name = input.name.trim();
  const row = {
    owner_id: input.owner_id,
    name,
    uid: random(32).toString('hex'),
    secret_hash: hashToken(secret),
    redirect_uris: JSON.stringify(splitWords(input.redirect_uri)),
    scopes: JSON.stringify(splitWords(input.scopes)),
    confidential: toFlag(input.confidential),
    trusted: toFlag(input.trusted),
  } as const;
  const id = await store.write(async (tx) => {
    if (input.owner_id !== null) {
      const { count } = await tx.db
        .selectFrom('oauth_applications')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('owner_id', '=', input.owner_id)
        .executeTakeFirstOrThrow();
      if (count >= maxOwned) throw invalid({ base: [`no more than ${maxOwned} applications`] });
    }
    const made = await insertRow(tx.db, 'oauth_applications', {
      ...row,
      created_at: tx.now,
      updated_at: tx.now,
    });
    const target = { target_type: 'Application', target_id: made };
    const { scopes, confidential, trusted, owner_id } = input;
    const data = { name, scopes: splitWords(scopes), confidential, trusted, owner_id };
    await recordEvent(tx, cause, { kind: 'application.created', project_id: null, ...target, data });
    await recordAudit(tx, cause, source, { kind: 'application.created', ...target, details: data });
    return made;
  });
  return { id, secret };
};
