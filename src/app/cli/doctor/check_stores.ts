/** Checks that each repository storage and the blob store answer and belong to this database. */
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { Failure } from '../../../platform/errors.ts';
import {
  type InstanceRecord,
  emptyRecord,
  otherInstance,
  secretsDiffer,
} from '../../service/instance_record.ts';
import { type InstanceStore, judgeStore } from '../../service/instance_stores.ts';
import { findDifferingSecret, readSecrets, secretsPath } from '../../service/secrets.ts';
import { listStores } from '../../service/list_stores.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { spellCount } from '../../../platform/spell_count.ts';

/** Checks that the secrets belong to the database. A missing or unreadable file is reported by another check. */
export const checkFingerprints = (config: Config, record: InstanceRecord): Finding[] => {
  const check = 'secrets of the database';
  const file = secretsPath(config);
  const stored = readSecrets(file);
  if (stored === null) return [];
  const differing = findDifferingSecret(record.fingerprints, stored, config.data);
  if (differing !== null) return [{ state: 'fail', check, detail: secretsDiffer(file, differing).message }];
  if (stored.instance !== undefined && record.id !== stored.instance)
    return [{ state: 'fail', check, detail: otherInstance(file, stored.instance, record).message }];
  return [ok(check, `${file} has the secrets of this database`)];
};

const describeCause = (error: unknown): string =>
  error instanceof Failure ? 'it refused the request or is unreachable' : (error as Error).message;

const checkStore = async (store: InstanceStore, record: InstanceRecord | null): Promise<Finding> => {
  const { name, label, remedy } = store;
  try {
    const state = await store.inspect(record ?? emptyRecord);
    if (record === null) return ok(name, `${label} answers`);
    const verdict = judgeStore(store, state, { id: record.id, isClaimed: record.claimed.has(name) });
    if (verdict === 'ok') return ok(name, `${label} answers and belongs to this database`);
    if (verdict === 'claim')
      return warn(name, `${label} has no marker yet`, 'the next start of the service marks it');
    return fail(name, verdict.problem, `if it cannot be restored, run "gantry adopt ${name}"`);
  } catch (error) {
    return fail(name, `${label} does not answer (${describeCause(error)})`, remedy);
  }
};

/** Reports storages that hold projects but that no setting names. Their repositories are unavailable. */
const checkUnconfigured = async (config: Config, { db }: Store): Promise<Finding[]> => {
  const rows = await db
    .selectFrom('projects')
    .select(['repository_storage', (eb) => eb.fn.countAll<number>().as('projects')])
    .where('deleted_at', 'is', null)
    .groupBy('repository_storage')
    .orderBy('repository_storage')
    .execute();
  const configured = new Set(config.repository_storages.map(({ name }) => name));
  return rows
    .filter(({ repository_storage }) => !configured.has(repository_storage))
    .map(({ repository_storage: name, projects }) =>
      fail(
        `storage:${name}`,
        `${spellCount(projects, 'project is', 'projects are')} in the storage "${name}", which is not configured`,
        'add it to GANTRY_REPOSITORY_STORAGES',
      ),
    );
};

/**
 * Checks the stores; without a record, only whether they answer.
 * @param skipped names of stores that do not answer
 */
export const checkStores = async (
  config: Config,
  database: { store: Store; record: InstanceRecord } | null,
  skipped: ReadonlySet<string>,
): Promise<Finding[]> => {
  const stores = await listStores(config, database?.store ?? null);
  const checked = stores.filter(({ name }) => !skipped.has(name));
  const findings = await Promise.all(
    checked.map(async (store) => await checkStore(store, database?.record ?? null)),
  );
  const more = database === null ? [] : await checkUnconfigured(config, database.store);
  return [...findings, ...more];
};
