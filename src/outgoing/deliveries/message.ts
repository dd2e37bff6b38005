/** Builds the message of a delivery. The payload of a change is built once for all hooks that receive it. */
import type { Platform } from '../../core/platform.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { type StoredEvent, takeEvent } from '../changes/stored_events.ts';
import type { Snapshot } from '../changes/snapshots/snapshot.ts';
import type { HookRow } from '../hooks/queries.ts';
import { buildPayload, getEventName } from '../payloads/build.ts';
import { type Message, renderBody } from './request.ts';

/** Payloads that several hooks of one change share, in bytes, and the longest of them. */
const maxCachedBytes = 8_388_608;
const maxCachedText = 16_384;

/** The payload of a change, and the event's name for hooks of projects and groups, and of the instance. */
type Built = Omit<StoredEvent, 'snapshot'> & { text: string; name: string; systemName: string };

const builtPayloads = memoizePerStore((_platform: Platform) =>
  makeLruCache<Promise<Built | null>, number>(maxCachedBytes, () => maxCachedText),
);

const build = async (platform: Platform, eventId: number): Promise<Built | null> => {
  const stored = await takeEvent(platform.store.db, eventId);
  if (stored === null) return null;
  const { snapshot: text, ...event } = stored;
  const snapshot = JSON.parse(text) as Snapshot;
  return {
    ...event,
    text: JSON.stringify(await buildPayload(platform, snapshot)),
    name: getEventName(snapshot, false),
    systemName: getEventName(snapshot, true),
  };
};

/** Builds the payload of a change once for all hooks that receive it, also at the same time. */
const getBuilt = async (platform: Platform, eventId: number): Promise<Built | null> => {
  const cache = builtPayloads(platform);
  const cached = cache.get(eventId);
  if (cached !== undefined) return await cached;
  const building = build(platform, eventId);
  cache.set(eventId, building);
  let isKept = false;
  try {
    const built = await building;
    isKept = built !== null && built.text.length <= maxCachedText;
    return built;
  } finally {
    if (!isKept) cache.delete(eventId);
  }
};

const isSystemHook = ({ project_id, group_id }: HookRow): boolean => project_id === null && group_id === null;

/** The id of a delivery: the same at each attempt, also after a crash. */
const toDeliveryId = (uuid: string, hookId: number): string => `${uuid}-${hookId}`;

type DeliveryMessage = Message & {
  trigger_name: string;
  /** Time of the change. */
  created_at: number;
};

/** Returns what a hook receives of a change; null if the change was removed with its deliveries. */
export const buildMessage = async (
  platform: Platform,
  hook: HookRow,
  eventId: number,
): Promise<DeliveryMessage | null> => {
  const built = await getBuilt(platform, eventId);
  if (built === null) return null;
  const { uuid, trigger_name, created_at, text, name, systemName } = built;
  return {
    id: toDeliveryId(uuid, hook.id),
    event_uuid: uuid,
    event_name: isSystemHook(hook) ? systemName : name,
    trigger_name,
    created_at,
    body: renderBody(hook, text),
  };
};
