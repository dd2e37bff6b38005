/** The one script of all pages. It only enhances: every page works without it. */
import { boardShortcuts, startBoards } from './boards.ts';
import { startCurrentLinks } from './current_links.ts';
import { startCopyButtons } from './copy_buttons.ts';
import { startDrafts } from './writing/text_drafts.ts';
import { startEditors } from './writing/text_editors.ts';
import { startFilters } from './filter_lists.ts';
import { startLater } from './load_later.ts';
import { startLines } from './code_lines.ts';
import { startLiveComments } from './live/live_comments.ts';
import { startLive } from './live/live_updates.ts';
import { startMenus } from './menus.ts';
import { openPalette, startPalette } from './palette.ts';
import { reviewShortcuts, startReview } from './review/review_shortcuts.ts';
import { rowShortcuts } from './row_navigation.ts';
import { startSelection } from './row_selection.ts';
import { startShortcuts } from './shortcuts.ts';
import { startSuggestions } from './suggestions.ts';
import { startUploads } from './writing/file_uploads.ts';
import { startPasswords } from './show_passwords.ts';
import { startTimes, updateTimes } from './relative_times.ts';
import { startTasks } from './writing/task_lists.ts';

startTimes();
startLater(updateTimes);
startMenus();
startCopyButtons();
startCurrentLinks();
startLines();
startEditors();
startUploads();
startPasswords();
startDrafts();
startFilters();
startSelection();
startSuggestions();
startTasks();
startBoards();
startPalette();
startReview();
startShortcuts(
  new Map([
    ['/', ['Search or jump to', openPalette]],
    ['s', ['Search or jump to', openPalette]],
    ...rowShortcuts(),
    ...boardShortcuts(),
    ...reviewShortcuts(),
  ]),
);
startLive();
startLiveComments();
