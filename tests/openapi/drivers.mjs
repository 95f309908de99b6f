// How a person drives a page: with a pointer, or by the keys of a keyboard alone. A story is written once for both.

import assert from "node:assert/strict";

/** More stops than any page has. */
const STOPS_MAX = 250;

/** Clicks, and what is put into a field at once. */
export const byClicks = () => ({
  press: (control) => control.click(),
  type: (field, text) => field.fill(text),
  choose: (list, value) => list.selectOption(value),
});

/** Tab, Shift+Tab, Enter, Space and letters: no pointer, and nothing gets the focus in any other way. */
export const byKeys = (page) => {
  const where = (control) => control.evaluate((element) => {
    const active = document.activeElement;
    if (element === active) return "here";
    return active.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING ? "before" : "behind";
  });
  const reach = async (control) => {
    for (let stop = 0; stop < STOPS_MAX; stop += 1) {
      const place = await where(control);
      if (place === "here") return sees(control);
      await page.keyboard.press(place === "before" ? "Shift+Tab" : "Tab");
    }
    assert.fail(`${control} is not reached by ${STOPS_MAX} tabs`);
  };
  return {
    async press(control) {
      await reach(control);
      const isLink = await control.evaluate((element) => element.tagName === "A");
      await Promise.all([
        page.waitForEvent("framenavigated"),
        page.keyboard.press(isLink ? "Enter" : "Space"),
      ]);
      await page.waitForLoadState();
    },
    async type(field, text) {
      await reach(field);
      await page.keyboard.press("Control+A");
      await page.keyboard.type(text);
    },
    async choose(list, value) {
      await reach(list);
      await page.keyboard.type(value);
      assert.equal(await list.inputValue(), value);
    },
  };
};

/** Whoever looks sees where the focus is: the control is on the screen and has an outline. */
async function sees(control) {
  const seen = await control.evaluate((element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { top, bottom, left, right } = element.getBoundingClientRect();
    return {
      outlined: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2,
      shown: bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
    };
  });
  assert.deepEqual(seen, { outlined: true, shown: true }, `${control} has the focus and shows it`);
}
