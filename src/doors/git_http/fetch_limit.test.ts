import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Platform } from '../../core/platform.ts';
import { TooManyFetches, takeFetchSlot } from './fetch_limit.ts';

const nobody = { cause: null, deployKey: null } as unknown as Parameters<typeof takeFetchSlot>[1];

test('anonymous users share the limit of their network, however many addresses they use', async () => {
  const store = { takePlace: async () => () => undefined };
  const platform = { config: { fetch_limit: 1 }, store } as unknown as Platform;
  const take = async (ip: string) => await takeFetchSlot(platform, nobody, ip);
  const leave = await take('2001:db8:1:2::1');
  const waiting = Array.from({ length: 10 }, async (_one, n) => await take(`2001:db8:1:2::2:${n}`));
  await assert.rejects(take('2001:db8:1:2:ffff::1'), TooManyFetches);
  const other = await take('2001:db8:1:3::1');
  other();
  leave();
  for (const one of waiting) (await one)();
});
