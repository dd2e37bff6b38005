import { type Call, requireActor } from '../../core/access/call.ts';
import { seal } from '../../core/access/credentials/encrypt_secrets.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type Problems, invalid, missingAttribute } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Project } from '../../projects/projects/find.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';
import { type IntegrationRow, storedProperties } from './json.ts';
import { activeIntegrations, findIntegration, loadIntegration } from './queries.ts';
import {
  type Properties,
  type PropertyName,
  type Slug,
  addressNames,
  findProblem,
  secretNames,
  trackers,
  listProperties,
} from './trackers.ts';

export type IntegrationInput = Properties & { active?: boolean };

/** Keeps the properties that this tracker has; a blank value removes its property. */
const pickProperties = (slug: Slug, requested: IntegrationInput): [PropertyName, string][] =>
  listProperties(slug).flatMap((name): [PropertyName, string][] => {
    const value = requested[name];
    return value === undefined ? [] : [[name, value.trim()]];
  });

const check = (requested: [PropertyName, string][]): void => {
  const problems: Problems = {};
  for (const [name, value] of requested) {
    const problem = value === '' ? null : findProblem(name, value);
    if (problem !== null) problems[name] = [problem];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

/** Drops stored secrets if the address they are sent to changes, so that no new address receives them. */
const dropExposedSecrets = (before: Properties, requested: [PropertyName, string][]): Properties => {
  const moves = requested.some(
    ([name, value]) => addressNames.includes(name) && (before[name] ?? '') !== value,
  );
  if (!moves) return before;
  return Object.fromEntries(
    Object.entries(before).filter(([name]) => !secretNames.includes(name as PropertyName)),
  );
};

const mergeProperties = (
  call: Call,
  slug: Slug,
  before: Properties,
  requested: [PropertyName, string][],
): Properties => {
  const { encryption_key } = call.platform.secrets;
  const after: Properties = { ...dropExposedSecrets(before, requested) };
  for (const [name, value] of requested) {
    if (value === '') delete after[name];
    else
      after[name] = secretNames.includes(name) ? seal(encryption_key, `integration ${name}`, value) : value;
  }
  const missing = trackers[slug].required.find((name) => after[name] === undefined);
  if (missing !== undefined) throw missingAttribute(missing);
  return after;
};

/** Locks the project's row, so that two concurrent requests cannot activate two trackers. */
const requireOnly = async (tx: Tx, projectId: number, slug: Slug): Promise<void> => {
  await holdProject(tx, projectId);
  const others = (await activeIntegrations(tx.db, projectId)).filter((one) => one.slug !== slug);
  if (others.length === 0) return;
  throw invalid({
    base: ['Another issue tracker is already in use. Only one issue tracker service can be active at a time'],
  });
};

const store = async (
  tx: Tx,
  projectId: number,
  { slug, active, properties }: { slug: Slug; active: 0 | 1; properties: Properties },
): Promise<IntegrationRow> => {
  const text = JSON.stringify(properties);
  return await tx.db
    .insertInto('integrations')
    .values({
      project_id: projectId,
      slug,
      active,
      properties: text,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .onConflict((clash) =>
      clash.columns(['project_id', 'slug']).doUpdateSet({ active, properties: text, updated_at: tx.now }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
};

/**
 * Connects a project with an external tracker, or edits the connection. It is active by default.
 * @throws Failure 400 for a missing property, an invalid URL, or if another tracker is active
 */
export const setIntegration = async (
  call: Call,
  { id: projectId }: Project,
  slug: Slug,
  input: IntegrationInput,
): Promise<IntegrationRow> => {
  const requested = pickProperties(slug, input);
  check(requested);
  return await call.write(async (tx) => {
    const existing = await loadIntegration(tx.db, projectId, slug);
    const active = input.active === false ? 0 : 1;
    if (active === 1) await requireOnly(tx, projectId, slug);
    const properties = mergeProperties(
      call,
      slug,
      existing === undefined ? {} : storedProperties(existing),
      requested,
    );
    const row = await store(tx, projectId, { slug, active, properties });
    await recordEvent(tx, requireActor(call), {
      kind: existing === undefined ? 'integration.created' : 'integration.updated',
      project_id: projectId,
      target_type: 'Integration',
      target_id: row.id,
      data: { slug, active: active === 1 },
    });
    return row;
  });
};

/** Disables an integration and deletes its properties. */
export const deleteIntegration = async (call: Call, project: Project, slug: Slug): Promise<void> => {
  await call.write(async (tx) => {
    const { id } = await findIntegration(tx.db, project.id, slug);
    await tx.db.deleteFrom('integrations').where('id', '=', id).execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'integration.deleted',
      project_id: project.id,
      target_type: 'Integration',
      target_id: id,
      data: { slug },
    });
  });
};
