import { type Call, actorOf } from '../access/call.ts';
import { seal } from '../access/seal.ts';
import type { Tx } from '../db/open.ts';
import { type Problems, invalid, notGiven } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Project } from '../projects/find.ts';
import { holdProject } from '../projects/hold.ts';
import { type IntegrationRow, storedProperties } from './json.ts';
import { activeIntegrations, findIntegration, integrationOf } from './queries.ts';
import {
  type Properties,
  type PropertyName,
  type Slug,
  addressNames,
  problemOf,
  secretNames,
  trackers,
} from './trackers.ts';

export type Wanted = Properties & { active?: boolean };

const namesOf = (slug: Slug): PropertyName[] => [...trackers[slug].required, ...trackers[slug].optional];

/** Of what was given, what this tracker knows; blank ones are taken away. */
const givenTo = (slug: Slug, given: Wanted): [PropertyName, string][] =>
  namesOf(slug).flatMap((name): [PropertyName, string][] => {
    const value = given[name];
    return value === undefined ? [] : [[name, value.trim()]];
  });

const check = (given: [PropertyName, string][]): void => {
  const problems: Problems = {};
  for (const [name, value] of given) {
    const problem = value === '' ? null : problemOf(name, value);
    if (problem !== null) problems[name] = [problem];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};

/** A secret that was meant for one address is not sent to another one that somebody else put there. */
const withoutMisled = (before: Properties, given: [PropertyName, string][]): Properties => {
  const moves = given.some(([name, value]) => addressNames.includes(name) && (before[name] ?? '') !== value);
  if (!moves) return before;
  return Object.fromEntries(
    Object.entries(before).filter(([name]) => !secretNames.includes(name as PropertyName)),
  );
};

const merged = (call: Call, slug: Slug, before: Properties, given: [PropertyName, string][]): Properties => {
  const { encryption_key } = call.platform.secrets;
  const after: Properties = { ...withoutMisled(before, given) };
  for (const [name, value] of given) {
    if (value === '') delete after[name];
    else
      after[name] = secretNames.includes(name) ? seal(encryption_key, `integration ${name}`, value) : value;
  }
  const missing = trackers[slug].required.find((name) => after[name] === undefined);
  if (missing !== undefined) throw notGiven(missing);
  return after;
};

/** The project's row is held: of two that are switched on at once, one is the first. */
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
 * Connects a project with a tracker outside, or changes how; active unless it is said otherwise.
 * @throws Failure 400 for what is missing or no URL, and where another tracker is active
 */
export const setIntegration = async (
  call: Call,
  { id: projectId }: Project,
  slug: Slug,
  wanted: Wanted,
): Promise<IntegrationRow> => {
  const given = givenTo(slug, wanted);
  check(given);
  return await call.write(async (tx) => {
    const known = await integrationOf(tx.db, projectId, slug);
    const active = wanted.active === false ? 0 : 1;
    if (active === 1) await requireOnly(tx, projectId, slug);
    const properties = merged(call, slug, known === undefined ? {} : storedProperties(known), given);
    const row = await store(tx, projectId, { slug, active, properties });
    await recordEvent(tx, actorOf(call), {
      kind: known === undefined ? 'integration.created' : 'integration.updated',
      project_id: projectId,
      target_type: 'Integration',
      target_id: row.id,
      data: { slug, active: active === 1 },
    });
    return row;
  });
};

/** Ends it, and forgets what it was told. */
export const deleteIntegration = async (call: Call, project: Project, slug: Slug): Promise<void> => {
  await call.write(async (tx) => {
    const { id } = await findIntegration(tx.db, project.id, slug);
    await tx.db.deleteFrom('integrations').where('id', '=', id).execute();
    await recordEvent(tx, actorOf(call), {
      kind: 'integration.deleted',
      project_id: project.id,
      target_type: 'Integration',
      target_id: id,
      data: { slug },
    });
  });
};
