/** Tests avatars without a picture. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avatar } from './avatar.ts';

test('a name that starts like a shape gets its own initials and shape', () => {
  const square = avatar({ name: 'Ann', isSquare: true }).text;
  const round = avatar({ name: 'square Ann' }).text;
  assert.match(square, /class="avatar small square color-\d"[^]+>A</);
  assert.match(round, /class="avatar small color-\d"[^]+>SA</);
});
