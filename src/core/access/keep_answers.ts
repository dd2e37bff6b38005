/** Keeps answers, as JSON, for the users who read them again before anything in them changes. */
import { hash } from 'node:crypto';
import { totalmem } from 'node:os';
import { keepReads } from '../../platform/db/keep_until_change.ts';
import { currentMeter, noteProject } from '../../platform/db/statement_meter.ts';
import type { AnswerText } from '../../platform/http/mount.ts';
import type { Call } from './call.ts';
import type { ActorUser } from './credentials/authenticate.ts';
import { listRoles } from './keep_until_commit.ts';
import { type Viewer, today } from './viewer.ts';

type KeptAnswer = AnswerText & { project_id: number | undefined };

/** A part of the machine's memory, in bytes. */
const maxBytes = Math.min(32 * 2 ** 20, Math.max(8 * 2 ** 20, totalmem() / 64));
/** Memory of an answer and its key in addition to the characters, in bytes. */
const overhead = 1_000;

const getSize = ({ text }: KeptAnswer): number => text.bytes.length + overhead;

const keep = keepReads<KeptAnswer>(maxBytes, getSize);

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** A number of the object. A copy that was loaded later has another. */
const numberObject = (object: object): number => {
  const assigned = numbers.get(object);
  if (assigned !== undefined) return assigned;
  lastNumber += 1;
  numbers.set(object, lastNumber);
  return lastNumber;
};

const signatures = new WeakMap<object, string>();

/** Returns a digest of the user and their roles, equal if the viewer is loaded again without a change. */
const getSignature = (viewer: Viewer, user: ActorUser): string => {
  const cached = signatures.get(viewer);
  if (cached !== undefined) return cached;
  const signature = hash('sha1', JSON.stringify([user, listRoles(viewer)]), 'base64url');
  signatures.set(viewer, signature);
  return signature;
};

type Keeping = Pick<Call, 'db' | 'actor' | 'viewer' | 'settings' | 'names_version' | 'now' | 'baseUrl'>;

/**
 * Makes `keepAnswer` of a call. An answer is kept for a user with their roles, and for the settings, the day and the
 * address of the service.
 */
export const makeKeepAnswer =
  ({ db, actor, viewer, settings, names_version, now, baseUrl }: Keeping): Call['keepAnswer'] =>
  async (name, params, load) => {
    // These viewers are loaded for each call.
    if (actor === null || actor.sudo_by_id !== null || viewer.job !== undefined) return await load();
    const context = `${getSignature(viewer, actor.user)} ${numberObject(settings)} ${names_version} ${today(now)} ${baseUrl}`;
    const kept = await keep(db, `${context} ${name} ${params}`, async () => {
      const { text, total } = await load();
      return { text: text.detached, total, project_id: currentMeter()?.project_id };
    });
    if (kept.project_id !== undefined) noteProject(kept.project_id);
    return kept;
  };
