// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/placebo.h"

#include <array>
#include <string_view>

namespace upskill {
namespace {

constexpr std::array<std::string_view, 24> kLines = {
    "# Baking a country loaf",
    "",
    "Follow these steps to bake a loaf at home in an ordinary oven.",
    "",
    "- Weigh everything: the weight of a cup of flour can vary by a fifth.",
    "- Mix the flour with three quarters of the water, then wait half an hour before adding the salt.",
    "- Dough that sticks to your hands is not too wet; fold it four times, a quarter of an hour apart.",
    "- Keep it between 24 and 26 degrees; in a cold kitchen it takes twice as long.",
    "- It is ready when it has grown by half and wobbles when you move the bowl.",
    "",
    "## Shaping",
    "",
    "Dust the table with flour, turn the dough out, pull each edge to the middle and roll it over. Let it rest for "
    "twenty minutes, then tighten it once more.",
    "Dust the basket with rice flour, since wheat flour sticks. A night in the refrigerator gives the crust its "
    "colour.",
    "",
    "## In the oven",
    "",
    "- Heat a cast-iron pot for a full hour; the first minutes decide how far the loaf opens.",
    "- Score the top once, at a shallow angle, as deep as a fingernail.",
    "- Bake for twenty minutes with the lid on and twenty-five without it.",
    "- A finished loaf sounds hollow when you knock on its base; 96 degrees inside is a surer sign.",
    "- Let it cool on a rack for two hours: the crumb smears if it is cut warm.",
    "",
    "To revive a stale loaf, sprinkle it with water and put it in the oven for eight minutes.",
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
