/** Requests for the rows about avatars. */
import { Readable } from 'node:stream';
import { getAvatarArea } from '../../../src/identity/avatars/store_avatar.ts';
import type { Maker } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';

const withAvatar =
  (table: 'projects' | 'namespaces', name: string): Maker =>
  async (tx, cells, { gantry }) => {
    const file = `${'0'.repeat(32)}.png`;
    const { sha256 } = await gantry.service.platform.blobs.put(
      getAvatarArea(file),
      Readable.from([Buffer.from('Made')]),
    );
    await tx.db
      .updateTable(table)
      .set({ avatar: `${sha256}/${file}` })
      .where(
        'id',
        'in',
        cells.map(({ names }) => Number(names[name])),
      )
      .execute();
  };

export const avatarRecipes: Record<string, Recipe> = {
  'PUT /user/avatar': { body: () => ({ avatar: '' }) },
  'GET /avatar': { query: 'email=nobody@example.com&size=40' },
  'GET /groups/:id/avatar': { makes: [withAvatar('namespaces', 'group')] },
  'GET /projects/:id/avatar': { makes: [withAvatar('projects', 'project')] },
};
