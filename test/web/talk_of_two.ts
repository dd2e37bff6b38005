/** What two people with the same record open in two browsers see of each other. */
import assert from 'node:assert/strict';
import { type Web, followOnly } from './web.ts';

/**
 * Checks that comments and replies of either appear on both pages, and that neither loses what they type.
 * @param address of an issue or merge request
 * @param people two users who may comment
 */
export const assertSeeEachOther = async (
  web: Web,
  address: string,
  [me, other]: readonly [string, string],
): Promise<void> => {
  await web.withPage(async (mine) => {
    await web.signIn(mine, me);
    await mine.goto(address);
    await mine.getByRole('textbox', { name: 'Add a comment' }).fill('My first thought');
    await mine.getByRole('button', { name: 'Start thread' }).click();
    await mine.getByText('My first thought').waitFor();
    await web.withPage(async (theirs) => {
      await web.signIn(theirs, other);
      await theirs.goto(address);
      await followOnly(mine);
      await followOnly(theirs);
      const field = mine.getByRole('textbox', { name: 'Add a comment' });
      await field.fill('Half a sente');
      await theirs.getByRole('textbox', { name: 'Add a comment' }).fill('I read along');
      await theirs.getByRole('button', { name: 'Comment', exact: true }).click();
      await theirs.getByText('I read along').waitFor();
      await mine.getByText('I read along').waitFor();
      assert.equal(await field.inputValue(), 'Half a sente');
      assert.equal(await mine.getByText('My first thought').count(), 1);
      // A reply goes into the thread, which is replaced.
      const thread = theirs.locator('.timeline > [id^=note_]', { hasText: 'My first thought' });
      await thread.getByText('Reply', { exact: true }).first().click();
      await thread.getByRole('textbox', { name: 'Reply' }).fill('Good thought');
      await thread.getByRole('button', { name: 'Reply', exact: true }).click();
      await theirs.getByText('Good thought').waitFor();
      await mine.getByText('Good thought').waitFor();
      assert.equal(await field.inputValue(), 'Half a sente');
      await field.press('Control+Enter');
      await mine.getByText('Half a sente').waitFor();
      await theirs.getByText('Half a sente').waitFor();
      await web.assertFine(theirs);
    });
  });
};
