-- SPDX-License-Identifier: GPL-2.0-or-later
-- lua work.lua WHAT DATA OUT: what Lua's own functions do to storage. Lua lists no folders, so it is given their files.
local what, data = arg[1], arg[2]

if what == "read" then
    for path in io.lines() do
        local file = io.open(path, "rb")
        file:read("a")
        file:close()
    end
elseif what == "records" then
    local file = io.open(data .. "/long.wav", "rb")
    for _ = 1, 4000 do
        file:seek("set", 44 + 16000 * math.random(0, 7000))
        file:read(16000)
    end
elseif what == "lines" then
    for path in io.lines() do
        for _ in io.lines(path) do
        end
    end
end
