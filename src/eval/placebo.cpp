// SPDX-License-Identifier: Apache-2.0
#include "eval/placebo.h"

#include <array>
#include <string_view>

namespace upskill {
namespace {

constexpr std::array<std::string_view, 24> kLines = {
    "# Baking a country loaf",
    "",
    "Follow these steps when a loaf is baked at home in an ordinary oven.",
    "",
    "- Weigh everything; a cup of flour can differ by a fifth.",
    "- Mix the flour and three quarters of the water, then wait half an hour before the salt goes in.",
    "- A dough that sticks to the hand is not too wet; fold it four times, a quarter of an hour apart.",
    "- Keep it between 24 and 26 degrees; in a cold kitchen it takes twice as long.",
    "- It is ready when it has grown by half and trembles as the bowl is moved.",
    "",
    "## Shaping",
    "",
    "Flour the table thinly, turn the dough out, pull each edge to the middle and roll it over. Let it rest for twenty "
    "minutes, then tighten it once more.",
    "The basket is dusted with rice flour, since wheat flour sticks. Overnight in the refrigerator the crust gets its "
    "colour.",
    "",
    "## In the oven",
    "",
    "- Heat a cast-iron pot for a full hour; the first minutes decide how far the loaf opens.",
    "- Cut the top once, at a flat angle, as deep as a finger nail.",
    "- Bake for twenty minutes with the lid and twenty-five without it.",
    "- A knock on the underside sounds hollow when it is done; 96 degrees inside is a surer sign.",
    "- Let it cool on a rack for two hours: cut warm, the crumb smears.",
    "",
    "A stale loaf comes back if it is sprinkled with water and put in the oven for eight minutes.",
};

}  // namespace

std::string PlaceboText(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; i = (i + 1) % kLines.size()) {
    text += kLines[i];
    text += '\n';
  }
  const std::size_t space = text.find_last_of(" \n", bytes);
  text.resize(space == std::string::npos || space == 0 ? bytes : space);
  return text;
}

}  // namespace upskill
